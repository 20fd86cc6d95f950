// Light or dark: as the system, unless the person has chosen.
export type Choice = 'system' | 'light' | 'dark'

const KEY = 'lakebed.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

class Theme {
  choice = $state<Choice>((localStorage.getItem(KEY) as Choice | null) ?? 'system')

  apply(): void {
    const wanted = this.choice === 'system' ? (dark.matches ? 'dark' : 'light') : this.choice
    document.documentElement.dataset.theme = wanted
  }

  set(choice: Choice): void {
    this.choice = choice
    if (choice === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, choice)
    this.apply()
  }
}

export const theme = new Theme()
dark.addEventListener('change', () => theme.apply())
theme.apply()
