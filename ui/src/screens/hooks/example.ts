/** An action file to begin with. */
export const EXAMPLE = `name: orders contract
on:
  pre-merge:
    branches: [main]
hooks:
  - id: orders
    type: contract
    properties:
      path: "orders/**/*.parquet"
      checks:
        - not_null: [order_id]
        - range: {amount: [0, 1000000]}
`
