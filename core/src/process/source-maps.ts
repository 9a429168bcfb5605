import { findSourceMap, SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The source maps of built files, by path, each read at its first use. Node's own support would decode every map when a file is loaded. */
const maps = new Map<string, () => SourceMap | undefined>();
let installed = false;

/**
 * Makes stack traces show source lines for a built file. A later call for the same file replaces its map.
 * @param read returns the map; called once, for the first trace that needs it
 */
export function mapStackFrames(file: string, read: () => SourceMapPayload | undefined): void {
  let map: SourceMap | undefined;
  let isRead = false;
  maps.set(file, () => {
    if (!isRead) {
      isRead = true;
      const payload = read();
      map = payload === undefined ? undefined : new SourceMap(payload);
    }
    return map;
  });
  install();
}

/** Reads the map of a file that is about to be replaced, while it still exists. */
export function keepSourceMap(file: string): void {
  maps.get(file)?.();
}

/** `//# sourceMappingURL=data:…` in the text of a built file. */
export function inlineSourceMap(text: string): SourceMapPayload | undefined {
  const [, data] =
    /\/\/# sourceMappingURL=data:application\/json;(?:charset=[^;]+;)?base64,([\w+/=]+)/.exec(text) ?? [];
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
}

function install(): void {
  if (installed) return;
  installed = true;
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) => {
    if (before !== undefined && !frames.some((frame) => maps.has(pathOf(frame)))) return before(error, frames);
    if (isRoutine(error)) return headOf(error);
    return [headOf(error), ...frames.map((frame) => `    at ${mapped(frame)}`)].join('\n');
  };
}

/**
 * Whether an error is one with which undici ends each idle connection, a few seconds after the last request or when the server closes it. Node's streams read
 * the stack of such an error, which is not shown anywhere. All its frames are undici's: mapping them would read the host's map, which takes a third of a second and
 * 50 MB, and even their unmapped lines would be counted in the whole script, which takes 10 ms.
 */
function isRoutine(error: Error): boolean {
  if (!('code' in error)) return false;
  return error.code === 'UND_ERR_INFO' || (error.code === 'UND_ERR_SOCKET' && error.message === 'other side closed');
}

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

function pathOf(frame: NodeJS.CallSite): string {
  const name = frame.getFileName() ?? '';
  return name.startsWith('file://') ? fileURLToPath(name) : name;
}

function mapped(frame: NodeJS.CallSite): string {
  const text = String(frame);
  const [name, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
  if (name == null || line === null || column === null) return text;
  const path = pathOf(frame);
  try {
    // Includes maps that Node has loaded, since this function replaces Node's own mapping.
    const map = maps.get(path)?.() ?? findSourceMap(name);
    const entry = map?.findEntry(line - 1, column - 1);
    if (entry === undefined || !('originalSource' in entry) || entry.originalSource === undefined) return text;
    const source = entry.originalSource.startsWith('file://')
      ? fileURLToPath(entry.originalSource)
      : resolve(dirname(path), entry.originalSource);
    return text.replace(
      `${name}:${line}:${column}`,
      () => `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`,
    );
  } catch {
    // An unreadable map must not hide the error.
    return text;
  }
}
