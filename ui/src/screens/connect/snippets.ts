// What people paste into their tools to reach a repository. No snippet holds a secret: each reads the variables.
export interface Snippet {
  text: string
  /** The extension of a file of this language, for its colours. */
  extension: string
}

/** The tools, in the order of the page. */
export const TOOLS = ['python', 'cli', 'pandas', 'duckdb', 'spark', 'aws'] as const
export type Tool = (typeof TOOLS)[number]

/** The variables that the SDK, the command and the file system read. */
export function variables(endpoint: string): Snippet {
  const text = `export LAKEBED_ENDPOINT=${endpoint}
export LAKEBED_ACCESS_KEY_ID='your access key ID'
export LAKEBED_SECRET_ACCESS_KEY='your secret access key'
`
  return { text, extension: 'sh' }
}

/** The snippet of a tool. Names of repositories and branches have no character that a shell or a language reads. */
export function snippet(tool: Tool, endpoint: string, repo: string, branch: string): Snippet {
  const place = `lakebed://${repo}/${branch}`
  switch (tool) {
    case 'python':
      return {
        extension: 'py',
        text: `import lakebed

lake = lakebed.connect("${endpoint}")  # reads the access key from the variables
branch = lake.repository("${repo}").branch("${branch}")
for entry in branch.list(limit=20):
    print(entry.path)
`,
      }
    case 'cli':
      return {
        extension: 'sh',
        text: `export LAKEBED_ENDPOINT=${endpoint}
lakebed fs ls ${repo}/${branch}
lakebed log ${repo}/${branch}
`,
      }
    case 'pandas':
      return {
        extension: 'py',
        text: `import pandas as pd

frame = pd.read_parquet("${place}/table.parquet")
print(frame.head())
`,
      }
    case 'duckdb':
      return {
        extension: 'py',
        text: `import duckdb
import fsspec

db = duckdb.connect()
db.register_filesystem(fsspec.filesystem("lakebed"))
print(db.sql("select * from read_parquet('${place}/table.parquet') limit 20"))
`,
      }
    case 'spark':
      return {
        extension: 'py',
        text: `import lakebed_spark

spark = lakebed_spark.session()
frame = spark.read.format("lakebed").load("${place}/table")
frame.show()
`,
      }
    case 'aws':
      return {
        extension: 'sh',
        text: `export AWS_ENDPOINT_URL=${endpoint} AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=$LAKEBED_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY=$LAKEBED_SECRET_ACCESS_KEY
aws s3 ls s3://${repo}/${branch}/
`,
      }
  }
}
