import { expect, test } from 'vitest'
import { drawingOf, MOST_FEATURES, Projection } from '../src/lib/geojson'

const point = (x: unknown, y: unknown) => ({ type: 'Point', coordinates: [x, y] })

test('a bare geometry, a feature and a collection are drawn', () => {
  for (const value of [point(1, 2), { type: 'Feature', geometry: point(1, 2) }, { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: point(1, 2) }] }]) {
    expect(drawingOf(value)?.features.map((one) => one.points)).toEqual([[[1, 2]]])
  }
})

test('what has no position is not drawn', () => {
  for (const value of [null, 7, 'x', [], {}, { type: 'Feature' }, point('1', 2), point(NaN, 2), { type: 'Polygon', coordinates: [[null]] }]) {
    expect(drawingOf(value)).toBeNull()
  }
})

test('north is at the top, and degrees of longitude are narrower far from the equator', () => {
  const drawing = drawingOf({ type: 'LineString', coordinates: [[0, 59], [2, 61]] })
  if (!drawing) throw new Error('not drawn')
  const on = new Projection(drawing)
  expect([on.width, on.height].map(Math.round)).toEqual([500, 1000])
  expect(drawing.features[0] && on.lines(drawing.features[0])).toBe('M0.00 1000.00L500.00 0.00')
})

test('numbers that are no degrees are drawn as they are', () => {
  const drawing = drawingOf({ type: 'MultiPoint', coordinates: [[0, 0], [500, 1000]] })
  expect(drawing?.isDegrees).toBe(false)
  expect(drawing && new Projection(drawing).width).toBe(500)
})

test('a file of too many features is cut', () => {
  const features = Array.from({ length: MOST_FEATURES + 1 }, () => ({ type: 'Feature', geometry: point(1, 2) }))
  const drawing = drawingOf({ type: 'FeatureCollection', features })
  expect([drawing?.features.length, drawing?.isCut]).toEqual([MOST_FEATURES, true])
})
