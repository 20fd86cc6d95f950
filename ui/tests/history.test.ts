import { describe, expect, test } from 'vitest'
import { exactly, isProtected } from '../src/lib/globs'
import { graphOf } from '../src/lib/graph'
import { changedLines } from '../src/lib/lines'

describe('the graph of commits', () => {
  const commit = (id: string, ...parents: string[]) => ({ id, parents })

  test('a straight history has one column', () => {
    const rows = graphOf([commit('c', 'b'), commit('b', 'a'), commit('a')])
    expect(rows.map((row) => row.column)).toEqual([0, 0, 0])
    expect(rows.map((row) => row.starts)).toEqual([[0], [0], []])
    expect(rows.map((row) => row.ends)).toEqual([[], [0], [0]])
  })

  test('a merge opens a column, and their common parent closes it', () => {
    const rows = graphOf([commit('m', 'b', 'd'), commit('d', 'a'), commit('b', 'a'), commit('a')])
    expect(rows.map((row) => row.column)).toEqual([0, 1, 0, 0])
    expect(rows[0]).toMatchObject({ starts: [0, 1], passes: [], width: 2 })
    expect(rows[1]).toMatchObject({ ends: [1], passes: [0] })
    expect(rows[3]).toMatchObject({ ends: [0, 1], starts: [], passes: [] })
  })

  test('a column that has ended is used again', () => {
    const rows = graphOf([commit('x', 'a'), commit('y', 'a'), commit('a', 'r'), commit('z', 'r'), commit('r')])
    expect(rows.map((row) => row.column)).toEqual([0, 1, 0, 1, 0])
    expect(Math.max(...rows.map((row) => row.width))).toBe(2)
  })
})

test('patterns of protected branches match as on the server', () => {
  const rules = [{ pattern: 'main' }, { pattern: 'release-*' }, { pattern: 'v[12]?' }, { pattern: 'x[!a]' }, { pattern: 'a.b' }]
  for (const name of ['main', 'release-', 'release-7/a', 'v1x', 'xb', 'a.b']) expect(isProtected(name, rules), name).toBe(true)
  for (const name of ['main2', 'a-main', 'v3x', 'v1', 'xa', 'axb']) expect(isProtected(name, rules), name).toBe(false)
})

test('the rule for one path matches nothing else', () => {
  expect(exactly('a/b c*?[1].txt')).toBe('/a/b\\ c\\*\\?\\[1\\].txt')
})

describe('changed lines', () => {
  test('have their numbers on both sides, and a few lines around them', () => {
    const left = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
    const right = left.toSpliced(9, 1, 'new')
    const lines = changedLines(`${left.join('\n')}\n`, `${right.join('\n')}\n`)
    expect(lines.length).toBe(8)
    expect(lines[3]).toEqual({ sign: '−', text: 'line 10', left: 10, right: null })
    expect(lines[4]).toEqual({ sign: '+', text: 'new', left: null, right: 10 })
  })

  test('lines between two changes that are far apart are left out', () => {
    const left = Array.from({ length: 40 }, (_, index) => `${index}`)
    const lines = changedLines(left.join('\n'), left.with(2, 'x').with(35, 'y').join('\n'))
    expect(lines.filter((line) => line === null).length).toBe(1)
  })

  test('equal texts have none', () => {
    expect(changedLines('a\nb\n', 'a\nb\n')).toEqual([])
  })
})
