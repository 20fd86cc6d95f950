const MOST = 300_000 // characters: the server keeps 256 KiB unless it is configured otherwise
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** The end of a log that the page shows, with its control characters written out. The cause is usually at the end. */
export function bounded(log: string): { text: string; isCut: boolean } {
  const text = log.slice(-MOST).replace(/\r\n?/g, '\n')
  return { text: text.replace(CONTROLS, (one) => `⟨${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`), isCut: log.length > MOST }
}
