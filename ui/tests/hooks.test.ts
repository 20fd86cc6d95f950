import { cleanup, fireEvent, render, screen } from '@testing-library/svelte'
import { afterEach, expect, test } from 'vitest'
import { ApiError } from '../src/api/client'
import { go } from '../src/lib/page.svelte'
import Failure from '../src/parts/Failure.svelte'
import { duration, resultsOf, stateOf, tableOf } from '../src/screens/hooks/hooks'
import { bounded } from '../src/screens/hooks/log'
import Results from '../src/screens/hooks/Results.svelte'
import State from '../src/screens/hooks/State.svelte'

afterEach(cleanup)

const START = '2026-11-27T10:00:00Z'
const BROKEN = {
  file: 'orders/a.parquet', check: 'range', column: 'amount', state: 'refused', message: '12 values', rows: 40, bad: 12,
  values: [{ row: 3, value: -5 }, { row: null, value: null }],
}
const PASSED = { file: 'orders/a.parquet', check: 'rows', state: 'passed', message: '', rows: 40, bad: null, values: [] }

test.each([
  ['2026-11-27T10:00:00.300Z', '0.3 s'],
  ['2026-11-27T10:00:12Z', '12 s'],
  ['2026-11-27T10:03:05Z', '3 min 5 s'],
  ['2026-11-27T12:04:59Z', '2 h 4 min'],
  ['2026-11-27T09:59:59Z', '0.0 s'],
])('a run that ends at %s took %s', (end, text) => expect(duration(START, end)).toBe(text))

test('a run that has not ended counts until now', () => expect(duration(START, undefined, Date.parse(START) + 61_000)).toBe('1 min 1 s'))

test('a server without states has two words', () => {
  expect(stateOf({ status: 'completed' })).toBe('passed')
  expect(stateOf({ status: 'failed' })).toBe('failed')
  expect(stateOf({ status: 'failed', state: 'running' })).toBe('running')
})

test('broken results of a contract are first, and fields of a wrong type are left out', () => {
  const [first, second, third] = resultsOf([PASSED, BROKEN, { check: 7, values: 'x', bad: '3' } as never])
  expect(first).toMatchObject({ check: 'range(amount)', isBad: true, bad: 12, rows: 40 })
  expect(first?.values).toEqual([{ row: 3, value: '-5' }, { row: undefined, value: '∅' }])
  expect(second).toMatchObject({ check: '', isBad: true, bad: undefined, values: [] })
  expect(third).toMatchObject({ check: 'rows', isBad: false })
})

test('rows of any fields become a table of at most 8 columns', () => {
  const wide = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`c${index}`, index]))
  expect(tableOf([{ file: 'a', bytes: 4 }, { file: 'b', more: { x: [1] } }])).toEqual({
    columns: ['file', 'bytes', 'more'],
    rows: [['a', '4', ''], ['b', '', '{"x":[1]}']],
  })
  expect(tableOf([wide]).columns).toHaveLength(8)
})

test('a long log keeps its end, and shows control characters', () => {
  expect(bounded('one\r\ntwo\u001b[31m\ttab')).toEqual({ text: 'one\ntwo⟨001B⟩[31m\ttab', isCut: false })
  const long = bounded(`${'x'.repeat(400_000)}end`)
  expect(long.isCut).toBe(true)
  expect(long.text.length).toBe(300_000)
  expect(long.text.endsWith('end')).toBe(true)
})

test('the results of a contract show the bad rows, and hide what passed until it is asked for', async () => {
  render(Results, { repo: 'sales', ref: 'main', details: [PASSED, BROKEN] })
  const row = screen.getByRole('row', { name: /range\(amount\)/ })
  expect(row.textContent).toContain('row 3: -5')
  expect(row.textContent).toContain('12 of 40')
  expect(row.textContent).toContain('and 10 more')
  expect(screen.getByRole('link').getAttribute('href')).toBe('/repositories/sales/object?ref=main&path=orders%2Fa.parquet')
  expect(screen.getAllByRole('row')).toHaveLength(2)
  await fireEvent.click(screen.getByRole('button', { name: 'Show 1 check that passed' }))
  expect(screen.getAllByRole('row')).toHaveLength(3)
})

test('a state is a word, also one that the page does not know', () => {
  render(State, { state: 'refused' })
  expect(screen.getByText('Refused')).toBeTruthy()
  render(State, { state: 'dreaming' })
  expect(screen.getByText('dreaming')).toBeTruthy()
})

test('the refusal of a hook links to its run in another tab', () => {
  go('/repositories/sales/compare')
  render(Failure, { error: new ApiError(412, 'hook_refused', 'no', { run_id: 'r1' }), isSmall: true })
  const link = screen.getByRole('link', { name: 'Show the run of the hooks' })
  expect([link.getAttribute('href'), link.getAttribute('target')]).toEqual(['/repositories/sales/actions/r1', '_blank'])
  cleanup()
  render(Failure, { error: new ApiError(412, 'precondition_failed', 'no', { run_id: 'r1' }), isSmall: true })
  expect(screen.queryByRole('link')).toBeNull()
})
