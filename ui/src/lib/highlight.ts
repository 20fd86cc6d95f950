// The colours of code. Loaded when code is first shown.
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import r from 'highlight.js/lib/languages/r'
import rust from 'highlight.js/lib/languages/rust'
import scala from 'highlight.js/lib/languages/scala'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { highlightedSpans } from './sanitize'

const LANGUAGES = { bash, cpp, css, dockerfile, go, ini, java, javascript, json, makefile, markdown, python, r, rust, scala, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)

const BY_EXTENSION: Record<string, string> = {
  sh: 'bash', c: 'cpp', cc: 'cpp', h: 'cpp', hpp: 'cpp', toml: 'ini', cfg: 'ini', js: 'javascript', mjs: 'javascript', jsonl: 'json', ndjson: 'json', geojson: 'json',
  ipynb: 'json', mk: 'makefile', md: 'markdown', py: 'python', rs: 'rust', ts: 'typescript', html: 'xml', svg: 'xml', yml: 'yaml',
}
const LONGEST = 200_000 // characters: longer text stays plain

/** The spans of some code, or null when its language is not known. `extension` is that of its file. */
export function highlighted(code: string, extension: string): DocumentFragment | null {
  const language = BY_EXTENSION[extension] ?? extension
  if (code.length > LONGEST || !hljs.getLanguage(language)) return null
  return highlightedSpans(hljs.highlight(code, { language, ignoreIllegals: true }).value)
}
