import { describe, expect, test } from 'vitest'
import { refused } from '../src/api/client'
import { baseName, exactSize, folderOf, shortId, size, time } from '../src/lib/format'
import { links } from '../src/lib/links'
import { match } from '../src/routes'

describe('format', () => {
  test('sizes have both units', () => {
    expect(size(0)).toBe('0 B')
    expect(size(999)).toBe('999 B')
    expect(size(1_234_567)).toBe('1.2 MB')
    expect(exactSize(1_234_567)).toBe('1.2 MiB (1,234,567 bytes)')
  })

  test('times leave out what is the same as now', () => {
    const now = new Date(2026, 10, 25, 16, 0)
    const at = (date: Date) => time(date.getTime() / 1000, now)
    expect(at(new Date(2026, 10, 25, 9, 5))).toBe('09:05')
    expect(at(new Date(2026, 0, 2, 9, 5))).toBe('2 Jan 09:05')
    expect(at(new Date(2024, 0, 2, 9, 5))).toBe('2 Jan 2024')
  })

  test('paths have a name and a folder', () => {
    expect([baseName('a/b/c.txt'), folderOf('a/b/c.txt')]).toEqual(['c.txt', 'a/b/'])
    expect([baseName('a/b/'), folderOf('a/b/')]).toEqual(['b/', 'a/'])
    expect([baseName('c'), folderOf('c')]).toEqual(['c', ''])
  })

  test('only commit ids are shortened', () => {
    expect(shortId('a'.repeat(64))).toBe('a'.repeat(12))
    expect(shortId('main')).toBe('main')
  })
})

describe('addresses', () => {
  test('hostile names survive in links', () => {
    expect(links.objects('r', 'a&b', 'x/../<img onerror>/')).toBe(
      '/repositories/r/objects?ref=a%26b&path=x%2F..%2F%3Cimg+onerror%3E%2F',
    )
  })

  test('a route gives the decoded values of its path', () => {
    expect(match('/repositories')?.params).toEqual({})
    expect(match('/repositories/')?.route.pattern).toBe('/repositories')
    expect(match('/nothing/here')).toBeUndefined()
  })
})

test('a refusal without a known body still says its status', () => {
  expect(refused(502, undefined).message).toBe('The server answered 502.')
  expect(refused(403, { kind: 'permission_denied', message: 'no' })).toMatchObject({ status: 403, kind: 'permission_denied' })
})
