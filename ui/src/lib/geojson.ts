// GeoJSON (RFC 7946) as the paths of an SVG. Longitudes are narrowed by the cosine of the middle latitude, so that shapes
// look as they do there. Coordinates that are no degrees are drawn as they are.
type Position = [number, number]

export interface Feature {
  kind: string
  properties: Record<string, unknown>
  areas: Position[][]
  lines: Position[][]
  points: Position[]
}
export interface Drawing {
  features: Feature[]
  /** The least and the greatest longitude and latitude, or x and y. */
  bounds: { west: number; south: number; east: number; north: number }
  isDegrees: boolean
  /** Whether the file has more than what is drawn. */
  isCut: boolean
}

export const MOST_FEATURES = 10_000
export const MOST_POSITIONS = 200_000
const DEEPEST = 8 // collections in collections
export const SIDE = 1000 // units of the longer side of a drawing

/** What a GeoJSON value draws, or null if it is none, or has no position. */
export function drawingOf(value: unknown): Drawing | null {
  const reader = new Reader()
  reader.read(value)
  const all = reader.features.flatMap((one) => [...one.areas.flat(), ...one.lines.flat(), ...one.points])
  if (!all.length) return null
  const bounds = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
  for (const [x, y] of all) {
    bounds.west = Math.min(bounds.west, x)
    bounds.east = Math.max(bounds.east, x)
    bounds.south = Math.min(bounds.south, y)
    bounds.north = Math.max(bounds.north, y)
  }
  const isDegrees = bounds.west >= -180 && bounds.east <= 180 && bounds.south >= -90 && bounds.north <= 90
  return { features: reader.features, bounds, isDegrees, isCut: reader.isCut }
}

class Reader {
  features: Feature[] = []
  isCut = false
  #positions = 0

  read(value: unknown): void {
    const { type, features } = fields(value)
    if (type === 'FeatureCollection' && Array.isArray(features)) for (const one of features) this.#feature(one)
    else if (type === 'Feature') this.#feature(value)
    else if (type !== undefined) this.#feature({ type: 'Feature', geometry: value })
  }

  #feature(value: unknown): void {
    if (this.features.length >= MOST_FEATURES || this.#positions >= MOST_POSITIONS) {
      this.isCut = true
      return
    }
    const { type, geometry, properties, id } = fields(value)
    if (type !== 'Feature') return
    const feature: Feature = { kind: '', properties: { ...(id !== undefined && { id }), ...fields(properties) }, areas: [], lines: [], points: [] }
    this.#geometry(geometry, feature, 0)
    this.features.push(feature)
  }

  #geometry(value: unknown, into: Feature, depth: number): void {
    const { type, coordinates, geometries } = fields(value)
    if (typeof type !== 'string') return
    into.kind ||= type
    if (type === 'GeometryCollection' && Array.isArray(geometries) && depth < DEEPEST) {
      for (const one of geometries) this.#geometry(one, into, depth + 1)
    } else if (type === 'Point') into.points.push(...this.#line([coordinates]))
    else if (type === 'MultiPoint') into.points.push(...this.#line(coordinates))
    else if (type === 'LineString') into.lines.push(this.#line(coordinates))
    else if (type === 'MultiLineString') into.lines.push(...list(coordinates).map((one) => this.#line(one)))
    else if (type === 'Polygon') into.areas.push(...list(coordinates).map((one) => this.#line(one)))
    else if (type === 'MultiPolygon') into.areas.push(...list(coordinates).flatMap((one) => list(one).map((ring) => this.#line(ring))))
  }

  #line(value: unknown): Position[] {
    const found: Position[] = []
    for (const one of list(value)) {
      const [x, y] = list(one)
      if (typeof x !== 'number' || typeof y !== 'number' || !Number.isFinite(x) || !Number.isFinite(y)) continue
      if (this.#positions >= MOST_POSITIONS) {
        this.isCut = true
        break
      }
      this.#positions += 1
      found.push([x, y])
    }
    return found
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const fields = (value: unknown) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {}) as Record<string, unknown>

/** From a position to a place of the drawing, whose longer side has `SIDE` units. */
export class Projection {
  readonly width: number
  readonly height: number
  readonly #scale: number
  readonly #narrow: number

  constructor(readonly drawing: Drawing) {
    const { west, east, south, north } = drawing.bounds
    this.#narrow = drawing.isDegrees ? Math.max(0.05, Math.cos((((south + north) / 2) * Math.PI) / 180)) : 1
    const [width, height] = [(east - west) * this.#narrow, north - south]
    this.#scale = SIDE / (Math.max(width, height) || 1)
    this.width = width * this.#scale
    this.height = height * this.#scale
  }

  /** `12.3 45.6` */
  #place([x, y]: Position): string {
    const { west, north } = this.drawing.bounds
    return `${((x - west) * this.#narrow * this.#scale).toFixed(2)} ${((north - y) * this.#scale).toFixed(2)}`
  }

  areas = (feature: Feature) => feature.areas.map((ring) => this.lineOf(ring) + (ring.length ? 'Z' : '')).join('')
  lines = (feature: Feature) => feature.lines.map((line) => this.lineOf(line)).join('')
  /** A line without length is drawn as a dot, by its round ends. */
  points = (feature: Feature) => feature.points.map((one) => `M${this.#place(one)}h0`).join('')

  lineOf(line: Position[]): string {
    return line.map((one, index) => `${index ? 'L' : 'M'}${this.#place(one)}`).join('')
  }

  /** The rectangle around a feature in the drawing: x, y, width and height. Undefined without a position. */
  boxOf(feature: Feature): [number, number, number, number] | undefined {
    const all = [...feature.areas.flat(), ...feature.lines.flat(), ...feature.points]
    if (!all.length) return undefined
    const places = all.map((one) => this.#place(one).split(' ').map(Number) as Position)
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)]
    const [left, top] = [xs.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.min(a, b))]
    return [left, top, xs.reduce((a, b) => Math.max(a, b)) - left, ys.reduce((a, b) => Math.max(a, b)) - top]
  }
}
