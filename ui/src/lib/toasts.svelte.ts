// Short messages about something that has happened. A live region reads them out.
export interface Toast {
  id: number
  text: string
  isError: boolean
}

const SECONDS = 6
let last = 0

export const toasts = $state<Toast[]>([])

/** Show a message. Errors stay until they are closed. */
export function toast(text: string, isError = false): void {
  const id = ++last
  toasts.push({ id, text, isError })
  if (!isError) setTimeout(() => dismiss(id), SECONDS * 1000)
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((one) => one.id === id)
  if (index >= 0) toasts.splice(index, 1)
}
