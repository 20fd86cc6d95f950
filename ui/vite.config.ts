/// <reference types="vitest/config" />
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'

const OUT = '../server_stub/lakebed_server/ui'
const SMALLEST = 1024 // bytes: below, compression saves no packet

/** Writes a .br and a .gz file next to each built file, so that the server compresses nothing. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(OUT, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue
        const content = readFileSync(join(OUT, name))
        if (content.length < SMALLEST) continue
        writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(content))
        writeFileSync(join(OUT, `${name}.gz`), gzipSync(content, { level: 9 }))
      }
    },
  }
}

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), precompress()],
  // Vitest runs in Node and must get the browser half of Svelte.
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the content security policy allows no data: scripts or styles
    modulePreload: { polyfill: false },
    manifest: true, // for scripts/budgets.mjs
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000', '/oidc': 'http://127.0.0.1:8000' } },
  test: { environment: 'jsdom', include: ['tests/**/*.test.ts'], testTimeout: 30_000 }, // busy machines
}))
