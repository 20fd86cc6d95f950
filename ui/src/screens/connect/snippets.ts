// What people paste into their tools to reach a repository. No snippet holds a secret: each reads the variables.
export interface Snippet {
  text: string
  /** The extension of a file of this language, for its colours. */
  extension: string
}

/** The tools, in the order of the page. */
export const TOOLS = ['python', 'cli', 'pandas', 'duckdb', 'spark', 'dbt', 'aws', 'boto3', 's3fs', 'rclone'] as const
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
    case 'dbt':
      return {
        extension: 'yaml',
        text: `lake:
  target: dev
  outputs:
    dev:
      type: duckdb
      extensions: [httpfs]
      secrets:
        - type: s3
          endpoint: "${new URL(endpoint).host}"
          use_ssl: ${endpoint.startsWith('https:')}
          url_style: path
          region: us-east-1
          scope: "s3://${repo}/${branch}/"
          key_id: "{{ env_var('LAKEBED_ACCESS_KEY_ID') }}"
          secret: "{{ env_var('LAKEBED_SECRET_ACCESS_KEY') }}"
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
    case 'boto3':
      return {
        extension: 'py',
        text: `import os

import boto3

s3 = boto3.client(
    "s3",
    endpoint_url="${endpoint}",
    region_name="us-east-1",
    aws_access_key_id=os.environ["LAKEBED_ACCESS_KEY_ID"],
    aws_secret_access_key=os.environ["LAKEBED_SECRET_ACCESS_KEY"],
)
for entry in s3.list_objects_v2(Bucket="${repo}", Prefix="${branch}/").get("Contents", []):
    print(entry["Key"], entry["Size"])
`,
      }
    case 's3fs':
      return {
        extension: 'py',
        text: `import os

import s3fs

fs = s3fs.S3FileSystem(
    endpoint_url="${endpoint}",
    key=os.environ["LAKEBED_ACCESS_KEY_ID"],
    secret=os.environ["LAKEBED_SECRET_ACCESS_KEY"],
)
for path in fs.ls("${repo}/${branch}"):
    print(path)
`,
      }
    case 'rclone':
      return {
        extension: 'sh',
        text: `export RCLONE_CONFIG_LAKE_TYPE=s3 RCLONE_CONFIG_LAKE_PROVIDER=Other
export RCLONE_CONFIG_LAKE_ENDPOINT=${endpoint} RCLONE_CONFIG_LAKE_REGION=us-east-1
export RCLONE_CONFIG_LAKE_ACCESS_KEY_ID=$LAKEBED_ACCESS_KEY_ID RCLONE_CONFIG_LAKE_SECRET_ACCESS_KEY=$LAKEBED_SECRET_ACCESS_KEY
rclone lsf lake:${repo}/${branch}/
`,
      }
  }
}
