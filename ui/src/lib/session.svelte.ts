// Who is signed in. The session is a cookie that scripts cannot read: only the server knows whether it is valid.
import { api, ApiError, ok, type Schema } from '../api/client'
import { queries } from '../api/queries'

type State = 'unknown' | 'out' | 'in' | 'expired'

class Session {
  state = $state<State>('unknown')
  user = $state.raw<Schema['User'] | null>(null)
  failure = $state.raw<Error | null>(null)

  /** Ask the server who is signed in. */
  async check(): Promise<void> {
    this.failure = null
    try {
      this.user = (await ok(api.GET('/user'))).user
      this.state = 'in'
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.state = 'out'
      else this.failure = error as Error
    }
  }

  /** Sign in with an access key, or with a name and a password where the server has a directory of people. */
  async signIn(id: string, secret: string): Promise<void> {
    const body = { access_key_id: id, secret_access_key: secret }
    await ok(api.POST('/auth/login', { body }))
    const before = this.user?.id
    await this.check()
    if (before !== this.user?.id) queries.clear()
    else await queries.invalidateQueries()
  }

  async signOut(): Promise<void> {
    try {
      await ok(api.POST('/auth/logout'))
    } finally {
      this.user = null
      this.state = 'out'
      queries.clear()
    }
  }
}

export const session = new Session()

// Any answer may say that the session has ended. The page stays, with what the person typed, below a sign-in dialog.
queries.getQueryCache().subscribe(({ query }) => noticeEnd(query.state.error))
queries.getMutationCache().subscribe(({ mutation }) => noticeEnd(mutation?.state.error))

/** Ask for a new sign-in if this error says that the session has ended. */
export function noticeEnd(error: unknown): void {
  if (error instanceof ApiError && error.status === 401 && session.state === 'in') session.state = 'expired'
}
