// Something that a person does and the server may refuse: whether it runs, and why it did not work.
import { noticeEnd } from './session.svelte'

export class Action {
  isBusy = $state(false)
  error = $state.raw<Error | null>(null)

  /** Run it. Returns whether it worked; the error stays in `error` until the next run. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.isBusy) return false
    this.isBusy = true
    this.error = null
    try {
      await work()
      return true
    } catch (failed) {
      noticeEnd(failed)
      this.error = failed as Error
      return false
    } finally {
      this.isBusy = false
    }
  }
}
