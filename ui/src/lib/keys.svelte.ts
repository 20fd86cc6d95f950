// Keyboard shortcuts: single keys such as `t`, and pairs such as `g c`. People can switch all of them off.
import { untrack } from 'svelte'

const OFF = 'lakebed.keys'
const PAIR_SECONDS = 1.5

interface Shortcut {
  keys: string
  label: string
  run: () => void
}

class Keys {
  isOn = $state(localStorage.getItem(OFF) !== 'off')
  known = $state.raw<Shortcut[]>([])
  #first = ''
  #at = 0

  set(isOn: boolean): void {
    this.isOn = isOn
    if (isOn) localStorage.removeItem(OFF)
    else localStorage.setItem(OFF, 'off')
  }

  /** Add a shortcut. Returns how to remove it: use it as the clean-up of an `$effect`. */
  add(keys: string, label: string, run: () => void): () => void {
    const one = { keys, label, run }
    untrack(() => (this.known = [...this.known.filter((other) => other.keys !== keys), one]))
    return () => (this.known = this.known.filter((other) => other !== one))
  }

  press(event: KeyboardEvent): void {
    if (!this.isOn || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    const pair = event.timeStamp - this.#at < PAIR_SECONDS * 1000 ? `${this.#first} ${event.key}` : ''
    const found = this.known.find((one) => one.keys === pair) ?? this.known.find((one) => one.keys === event.key)
    this.#first = event.key
    this.#at = event.timeStamp
    if (!found) return
    event.preventDefault()
    found.run()
  }
}

export const keys = new Keys()

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}
