import { t } from '../strings'
import { toast } from './toasts.svelte'

/** Copy a text, and say whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    toast(t.copied)
    return true
  } catch {
    toast(t.notCopied, true)
    return false
  }
}
