import { describe, expect, test } from 'vitest'
import { shown } from '../src/lib/format'
import { besides, markdown, resolvePath } from '../src/lib/markdown'
import { readNotebook } from '../src/lib/notebook'
import { sanitized } from '../src/lib/sanitize'

function html(fragment: DocumentFragment): string {
  const element = document.createElement('div')
  element.append(fragment)
  return element.innerHTML
}

const nowhere = () => null

describe('HTML that people wrote', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">a</a>',
    '<a href="data:text/html,<script>alert(1)</script>">a</a>',
    '<svg><script>alert(1)</script></svg>',
    '<math><mi xlink:href="javascript:alert(1)">a</mi></math>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<form action="https://evil.example"><input name=password></form>',
    '<style>* { display: none }</style>',
    '<p style="position:fixed" class="menu" id="app" onclick="alert(1)">a</p>',
    '<template><script>alert(1)</script></template>',
    '<base href="https://evil.example/">',
    '<meta http-equiv=refresh content="0;url=https://evil.example">',
    '<object data="page.html"></object><embed src="page.html">',
  ])('%s loses what acts', (text) => {
    const found = html(sanitized(text, nowhere))
    expect(found).not.toMatch(/<(script|svg|math|iframe|form|input|style|template|base|meta|object|embed)/i)
    expect(found).not.toMatch(/\s(on\w+|style|class)=|javascript:|data:text/i)
  })

  test('text that only looks like an attribute stays', () => {
    expect(html(sanitized('<p>set style = bold, onclick = 1</p>', nowhere))).toBe('<p>set style = bold, onclick = 1</p>')
  })

  test('images of other hosts become links, and none is loaded', () => {
    const found = html(markdown('![a chart](https://evil.example/x.png)', besides('r', 'main', 'README.md')))
    expect(found).not.toContain('<img')
    expect(found).toContain('href="https://evil.example/x.png"')
    expect(found).toContain('a chart')
  })

  test('relative addresses stay at the same ref', () => {
    const found = html(markdown('![c](img/c.png) [n](../notes.md) [f](/data/)', besides('r', 'v1', 'docs/README.md')))
    expect(found).toContain('/api/v1/repositories/r/refs/v1/objects?path=docs%2Fimg%2Fc.png')
    expect(found).toContain('/repositories/r/object?ref=v1&amp;path=notes.md')
    expect(found).toContain('/repositories/r/objects?ref=v1&amp;path=data%2F')
  })

  test('links to other hosts open apart and say nothing about this page', () => {
    expect(html(markdown('[a](https://a.example)', nowhere))).toContain('rel="noopener noreferrer"')
  })
})

test('paths do not leave the top', () => {
  expect(resolvePath('a/b/', '../c.png')).toBe('a/c.png')
  expect(resolvePath('a/', '../../../c.png')).toBe('c.png')
  expect(resolvePath('a/', '/x/./y%20z')).toBe('x/y z')
})

test('control characters of names are written out', () => {
  expect(shown('\u202egnp.exe')).toBe('⟨202E⟩gnp.exe')
  expect(shown('a\nb')).toBe('a⟨000A⟩b')
  expect(shown('مرحبا 😀 é')).toBe('مرحبا 😀 é')
})

describe('notebooks', () => {
  test('cells and outputs are read', () => {
    const outputs = [
      { output_type: 'stream', text: ['a\n', 'b'] },
      { output_type: 'display_data', data: { 'image/png': 'aGk=\n' } },
      { output_type: 'error', ename: 'KeyError', evalue: "'x'", traceback: [] },
      { output_type: 'display_data', data: { 'application/javascript': 'alert(1)' } },
    ]
    const cells = [{ cell_type: 'code', execution_count: 3, source: ['1', '+1'], outputs }]
    expect(readNotebook(JSON.stringify({ cells })).cells[0]).toEqual({
      kind: 'code',
      source: '1+1',
      number: '3',
      outputs: [
        { kind: 'text', value: 'a\nb' },
        { kind: 'image', value: 'data:image/png;base64,aGk=' },
        { kind: 'error', value: "KeyError: 'x'" },
      ],
    })
  })

  test('other text is refused', () => {
    expect(() => readNotebook('no json')).toThrow()
    expect(() => readNotebook('{}')).toThrow()
  })
})
