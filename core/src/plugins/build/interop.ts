const ESBUILD = 'isNodeMode || !mod || !mod.__esModule ?';
const OURS = '(isNodeMode ? !require.isModuleNamespace(mod) : !mod || !mod.__esModule) ?';

/**
 * Makes `import x from 'package'` mean the package's default export when `require` answers with an ES module.
 *
 * The bundler's helper was made for a `require` that only ever returns CommonJS exports: for sources of type "module" it takes
 * whatever comes back for the default import. Node's `require` returns the namespace of an ES module, whose `default` is meant.
 * The change stays within one line, before any mapped code, so that source maps hold.
 */
export function respectModuleNamespaces(code: string): string {
  if (!code.includes('var __toESM = ')) return code;
  if (!code.includes(ESBUILD))
    throw new Error('esbuild has changed its __toESM helper: adapt core/src/plugins/build/interop.ts');
  return code.replace(ESBUILD, () => OURS);
}
