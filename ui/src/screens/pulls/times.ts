/** Unix seconds of an RFC 3339 time. */
export const seconds = (time: string) => Date.parse(time) / 1000
