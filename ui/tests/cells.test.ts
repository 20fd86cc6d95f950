import { expect, test } from 'vitest'
import { cellText, cellWidth } from '../src/lib/cells'

test('cells are written as people read them', () => {
  expect(cellText(null)).toBe('∅')
  expect(cellText('9007199254740993')).toBe('9007199254740993')
  expect(cellText({ cut: 'long' })).toBe('long…')
  expect(cellText({ a: [1, null] })).toBe('{"a":[1,null]}')
  expect(cellText(false)).toBe('false')
})

test('columns are wide enough for their names, within a limit', () => {
  expect(cellWidth('boolean', 'a')).toBe(90)
  expect(cellWidth('boolean', 'a'.repeat(100))).toBe(280)
})
