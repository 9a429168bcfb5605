import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Records the source files whose code runs in this process, from V8's count of each function's calls. */
export interface Coverage extends Disposable {
  /**
   * Resolves with the source files of which a function was called since the last call of `look`, not counting module bodies. Paths are relative to the root of
   * the project and sorted; tests, local servers and the harness are excluded.
   */
  look(): Promise<readonly string[]>;
}

/** The compiled code of `test/bench/footprint` is in `test/dist/bench/footprint`. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const COUNTED = /^(?:core|sdk|plugins\/[^/]+)\/src\//;
/** The local Discord, the stand-ins for providers, and the code that drives the host in a test. */
const HARNESS = /^sdk\/src\/testing\.ts$|^core\/src\/(?:testing|cli\/console)\//;
/** The bundler's wrapper of a module that is loaded on demand is named after its file: it is the body of that module. */
const MODULE_BODY = /\.[cm]?[jt]s$/;
const STATIC_PARTS = '<static_initializer>';

/** Starts counting. A running function is counted from its next call on. */
export async function recordCoverage(): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const scripts = new Map<string, Script | undefined>();
  const scriptOf = (url: string) => {
    if (!scripts.has(url)) scripts.set(url, readScript(url));
    return scripts.get(url);
  };
  return {
    async look() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const files = new Set<string>();
      for (const { url, functions } of result) {
        for (const { functionName, ranges } of functions) {
          const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
          if (count === 0 || MODULE_BODY.test(functionName) || functionName === STATIC_PARTS) continue;
          const script = scriptOf(url);
          if (script === undefined || isWholeScript(ranges, script)) continue;
          const source = script.sourceAt(startOffset);
          if (source !== undefined) files.add(source);
        }
      }
      return [...files].sort();
    },
    [Symbol.dispose]: () => session.disconnect(),
  };
}

interface Script {
  readonly length: number;
  /** The source file of a position in the compiled code, if the file is counted. */
  sourceAt(offset: number): string | undefined;
}

function isWholeScript(ranges: readonly { startOffset: number; endOffset: number }[], { length }: Script): boolean {
  const [range] = ranges;
  return range?.startOffset === 0 && range.endOffset >= length;
}

/** `undefined` for anything that is not a file, or has no source map. */
function readScript(url: string): Script | undefined {
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  if (!file.startsWith(sep) || file.includes(`${sep}node_modules${sep}`)) return undefined;
  const code = readFileSync(file, 'utf8');
  const payload = sourceMapOf(file, code);
  if (payload === undefined) return undefined;
  const map = new SourceMap(payload);
  const lineStarts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return {
    length: code.length,
    sourceAt(offset) {
      const line = lineStarts.findLastIndex((start) => start <= offset);
      const entry = map.findEntry(line, offset - (lineStarts[line] ?? 0));
      // The bundler's own code before the first mapped position has no entry.
      if (!('originalSource' in entry) || entry.originalSource === undefined) return undefined;
      const name = nameOf(entry.originalSource, file);
      return COUNTED.test(name) && !HARNESS.test(name) ? name : undefined;
    },
  };
}

function nameOf(source: string, file: string): string {
  const path = source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(file), source);
  return relative(ROOT, path).split(sep).join('/');
}

const COMMENT = /\/\/# sourceMappingURL=(\S+)\s*(?:$|\n\/\/)/;

function sourceMapOf(file: string, code: string): SourceMapPayload | undefined {
  const url = COMMENT.exec(code.slice(code.lastIndexOf('//# sourceMappingURL=')))?.[1];
  if (url === undefined) return undefined;
  const inline = /^data:application\/json;(?:charset=[^;]+;)?base64,(.+)$/.exec(url)?.[1];
  const json =
    inline === undefined
      ? readFileSync(resolve(dirname(file), decodeURIComponent(url)), 'utf8')
      : Buffer.from(inline, 'base64').toString('utf8');
  return JSON.parse(json);
}
