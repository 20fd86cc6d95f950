import { cleanup, fireEvent, render, screen } from '@testing-library/svelte'
import { afterEach, expect, test, vi } from 'vitest'
import { ApiError } from '../src/api/client'
import Failure from '../src/parts/Failure.svelte'
import Table from './Table.svelte'

afterEach(cleanup)

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `row-${index}` }))

test('a long table draws only the rows in view, and says how many there are', () => {
  render(Table, { rows: rows(100_000) })
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('100001')
  expect(screen.getAllByRole('row').length).toBeLessThan(150)
  expect(screen.getByText('row-0')).toBeTruthy()
})

test('rows are selected one by one, and all together', async () => {
  const { component } = render(Table, { rows: rows(3) })
  await fireEvent.click(screen.getByRole('checkbox', { name: 'Select row-1' }))
  expect(component.chosen()).toEqual(['row-1'])
  await fireEvent.click(screen.getByRole('checkbox', { name: 'Select all rows' }))
  expect(component.chosen().sort()).toEqual(['row-0', 'row-1', 'row-2'])
})

test('the end of a table offers the next page', async () => {
  const more = vi.fn()
  render(Table, { rows: rows(2), more })
  await fireEvent.click(screen.getByRole('button', { name: 'Load more' }))
  expect(more).toHaveBeenCalledOnce()
})

test('an error says what happened and offers another try', async () => {
  const retry = vi.fn()
  render(Failure, { error: new ApiError(403, 'permission_denied', 'needs fs:ReadObject'), retry })
  expect(screen.getByRole('alert').textContent).toContain('You have no permission for this')
  expect(screen.getByText('needs fs:ReadObject')).toBeTruthy()
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
  expect(retry).toHaveBeenCalledOnce()
})
