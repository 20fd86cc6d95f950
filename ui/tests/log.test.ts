import { expect, test } from 'vitest'
import { dayStart, queryOf } from '../src/screens/commits/log'

const none = { path: '', author: '', from: '', to: '' }

test('a day is one of the calendar', () => {
  expect(dayStart('2026-01-31', 1)).toEqual(new Date(2026, 1, 1))
  for (const text of ['', '2026', '2026-13-01', 'yesterday']) expect(dayStart(text)).toBeUndefined()
})

test('the server filters by path, by a part of the author and by whole days', () => {
  const query = queryOf({ path: 'a/', author: 'ANA', from: '2026-01-30', to: '2026-01-31' }, 'c1')
  expect(query).toMatchObject({ prefixes: ['a/'], author_contains: 'ANA', after: 'c1' })
  expect([query.since, query.until]).toEqual([new Date(2026, 0, 30).toISOString(), new Date(2026, 1, 1).toISOString()])
  expect(queryOf({ ...none, path: 'a' }, '')).toMatchObject({ objects: ['a'] })
  const plain = queryOf(none, '')
  expect([plain.since, plain.until, plain.author_contains]).toEqual([undefined, undefined, undefined])
})
