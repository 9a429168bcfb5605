import { posix, resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { bookTarget, pageOf, ROOT, sidebar, slugify } from './book.js';

export default defineConfig({
  title: 'Cinnabar',
  description: 'A Discord bot host in TypeScript',
  srcDir: '..',
  srcExclude: [
    'README.md',
    '{config,examples,test,data,logs}/**',
    '{docs,core,sdk,plugins}/**/node_modules/**',
    'docs/.vitepress/**',
  ],
  rewrites: (file) => pageOf(file) ?? file,
  lastUpdated: false,
  // Nothing is loaded from other servers: the book works without a network.
  head: [],
  markdown: {
    anchor: { slugify },
    languageAlias: { env: 'ini' },
    config: (md) => md.core.ruler.push('links-of-files', linkPages),
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Before', next: 'Next' },
  },
  vite: {
    build: { chunkSizeWarningLimit: 4_000 },
    plugins: [vueFromHere()],
    ssr: { external: ['vue', 'vue/server-renderer'] },
  },
});

/** Pages outside this folder have no packages of their own: imports of their components are resolved here. */
function vueFromHere() {
  const here = resolve(ROOT, 'docs', 'index.md');
  return {
    name: 'vue-from-here',
    enforce: 'pre',
    resolveId(source, importer, { ssr }) {
      if (!/^vue(\/|$)/.test(source) || !importer?.endsWith('.md')) return undefined;
      // Node loads it while the pages are rendered; the browsers' bundles contain it.
      return ssr ? { id: source, external: true } : this.resolve(source, here, { skipSelf: true });
    },
  };
}

/** Links are written from file to file. In the book they lead to the file's page; a file without a page is named, not linked. */
function linkPages({ env, tokens }) {
  const from = posix.dirname(env.realPath === undefined ? env.relativePath : posix.relative(ROOT, env.realPath));
  for (const { children } of tokens) {
    let isDropped = false;
    for (const token of children ?? []) {
      if (token.type === 'link_open') {
        const target = bookTarget(from, token.attrGet('href'));
        isDropped = target === undefined;
        if (isDropped) drop(token);
        else token.attrSet('href', target);
      } else if (token.type === 'link_close' && isDropped) drop(token);
    }
  }
}

function drop(token) {
  Object.assign(token, { type: 'text', content: '', tag: '', nesting: 0, attrs: null });
}
