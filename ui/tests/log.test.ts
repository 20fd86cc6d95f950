import { expect, test } from 'vitest'
import type { Schema } from '../src/api/client'
import { condition, dayStart } from '../src/screens/commits/log'

const none = { path: '', author: '', from: '', to: '' }
const commit = (committer: string, at: Date) => ({ committer, creation_date: Math.floor(at.getTime() / 1000) }) as Schema['Commit']

test('a day is one of the calendar', () => {
  expect(dayStart('2026-01-31', 1)).toEqual(new Date(2026, 1, 1))
  for (const text of ['', '2026', '2026-13-01', 'yesterday']) expect(dayStart(text)).toBeUndefined()
})

test('commits are kept by a part of the author and by the last day', () => {
  const noon = new Date(2026, 0, 31, 12)
  const fits = condition({ ...none, author: 'ANA', to: '2026-01-31' })
  expect(fits?.(commit('ana@example.org', noon))).toBe(true)
  expect(fits?.(commit('bo', noon))).toBe(false)
  expect(fits?.(commit('ana', new Date(2026, 1, 1, 0)))).toBe(false)
  expect(condition({ ...none, path: 'a', from: '2026-01-01' })).toBeUndefined()
})
