/**
 * The watchdog's thread: detects that the main thread is blocked, reports where, and ends the process when the main thread cannot. It receives signals itself,
 * since Node runs signal handlers on the main thread only.
 */
import { readFileSync, writeSync } from 'node:fs';
import { url as inspectorUrl, Session } from 'node:inspector';
import { createRequire, SourceMap } from 'node:module';
import { constants } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { Doing } from '../gateway/boundary.js';
import { isRepeated, type Received, STOP_SIGNALS } from './signals.js';
import { inlineSourceMap } from './source-maps.js';
import type { WatchdogData } from './watchdog.js';

const TICK_MS = 250;
/** Reports are made after these numbers of ticks without a heartbeat. Ticks of this thread, because it is slow, too, when the whole machine is. */
const REPORTED_AT = [20, 120];
const REPORTED_EVERY = 1_200;
/** Time limit of pausing the main thread: long, since a busy machine is slow, and the main thread is blocked anyway. */
const PAUSE_PATIENCE_MS = 10_000;
/** The main thread's own stop takes at most 14 s, including the log and the monitoring. */
const STOP_WITHIN_MS = 14_600;
/** After a second signal the main thread ends the process immediately, if it can. */
const HURRY_WITHIN_MS = 300;

// Few imports: this thread is loaded at every start.
const { beats }: WatchdogData = workerData;
const counter = new Int32Array(beats);

watchBeats();
listenToSignals();

function watchBeats(): void {
  let seen = 0;
  let missed = 0;
  setInterval(() => {
    const now = Atomics.load(counter, 0);
    // 0 before the first heartbeat and -1 after the last one: no heartbeats are expected then.
    missed = now === seen && now > 0 ? missed + 1 : 0;
    seen = now;
    if (REPORTED_AT.includes(missed) || (missed > 0 && missed % REPORTED_EVERY === 0)) void report(missed * TICK_MS);
  }, TICK_MS);
}

async function report(standsStillMs: number): Promise<void> {
  // With a debugger, the main thread may be paused at a breakpoint.
  if (inspectorUrl() !== undefined) return;
  const where = await lookAtMainThread();
  const sentence = `the event loop has stood still for ${Math.round(standsStillMs / 1_000)} s: ${where}. Nothing else happens until that ends.`;
  say(sentence);
  // The main thread writes the report to the log, if it continues.
  parentPort?.postMessage(sentence);
}

/** Writes to standard error directly, since the streams of a thread go through the main thread. */
function say(sentence: string): void {
  try {
    writeSync(2, `cinnabar: ${sentence}\n`);
  } catch {
    // The terminal is closed.
  }
}

/** Pauses the main thread, wherever it is, and reads its stack. */
function lookAtMainThread(): Promise<string> {
  const session = new Session();
  const scripts = new Map<string, Script>();
  return new Promise((done) => {
    const end = (words: string) => {
      clearTimeout(patience);
      // Disconnecting resumes the main thread.
      session.disconnect();
      done(words);
    };
    const patience = setTimeout(
      () => end('in native code or in a system call, which cannot be looked into'),
      PAUSE_PATIENCE_MS,
    );
    session.connectToMainThread();
    session.on('Debugger.scriptParsed', ({ params }) => {
      scripts.set(params.scriptId, { file: pathOf(params.url) });
    });
    session.on('Debugger.paused', ({ params }) => {
      const frames = params.callFrames.flatMap(({ location }) => {
        const script = scripts.get(location.scriptId);
        return script === undefined
          ? []
          : [{ ...script, line: location.lineNumber, column: location.columnNumber ?? 0 }];
      });
      const [top] = params.callFrames;
      if (top === undefined) return end(wordsOf(frames, undefined));
      const question = { callFrameId: top.callFrameId, expression: 'globalThis.cinnabarDoing', returnByValue: true };
      session.post('Debugger.evaluateOnCallFrame', question, (_error, answer) => {
        end(wordsOf(frames, doingIn(answer)));
      });
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

interface Script {
  readonly file: string;
}
type Frame = Script & { readonly line: number; readonly column: number };

function doingIn(answer: unknown): Doing | undefined {
  const result = property(answer, 'result');
  const value = property(result, 'value');
  return isDoing(value) ? value : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isDoing(value: unknown): value is Doing {
  return typeof value === 'object' && value !== null && 'plugin' in value && 'label' in value && 'change' in value;
}

function pathOf(place: string): string {
  return place.startsWith('file://') ? fileURLToPath(place) : place;
}

/** A built plugin is one file, `<id>-<hash>.cjs`, with its source map inside. */
const BUILT = /^(.+)-[0-9a-f]{12}\.cjs$/;

function wordsOf(frames: readonly Frame[], doing: Doing | undefined): string {
  const ofPlugin = frames.find(({ file }) => BUILT.test(basename(file)));
  const frame = ofPlugin ?? frames.find(({ file }) => !file.startsWith('node:'));
  const plugin = doing?.plugin || BUILT.exec(basename(ofPlugin?.file ?? ''))?.[1];
  const what = doing?.label || doing?.change;
  const place = frame === undefined ? '' : ` at ${sourceOf(frame)}`;
  if (plugin === undefined) return `no plugin's code runs${what ? ` (during ${what})` : ''}${place}`;
  return `the plugin ${plugin}${what ? ` in ${what}` : ''}${place}`;
}

/** The source line; the line of the built file when the map has none. */
function sourceOf({ file, line, column }: Frame): string {
  const built = `${file}:${line + 1}:${column + 1}`;
  try {
    const payload = inlineSourceMap(readFileSync(file, 'latin1'));
    if (payload === undefined) return built;
    const entry = new SourceMap(payload).findEntry(line, column);
    if (!('originalSource' in entry) || entry.originalSource === undefined) return built;
    return `${resolve(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  } catch {
    return built;
  }
}

interface SignalHandle {
  onsignal: (signal: number) => void;
  start(signal: number): number;
}

/** The internal binding behind `process.on` for signals, which works in every thread, while Node's public API sends no signals to worker threads. */
function signalHandles(): { readonly Signal: new () => SignalHandle } | undefined {
  const isBinding = (value: unknown): value is { readonly Signal: new () => SignalHandle } =>
    typeof value === 'object' && value !== null && 'Signal' in value && typeof value.Signal === 'function';
  try {
    const { internalBinding } = createRequire(import.meta.url)('internal/test/binding');
    const binding: unknown = internalBinding('signal_wrap');
    return isBinding(binding) ? binding : undefined;
  } catch {
    return undefined;
  }
}

function listenToSignals(): void {
  const handles = signalHandles();
  if (handles === undefined) {
    say('this Node lets the watchdog hear no signals: a plugin that loops for ever can only be killed.');
    return;
  }
  let last: Received | undefined;
  const endWithin = (ms: number, why: string) =>
    setTimeout(() => {
      say(`ended by force: ${why}.`);
      process.kill(process.pid, 'SIGKILL');
    }, ms);
  for (const signal of STOP_SIGNALS) {
    const handle = new handles.Signal();
    handle.onsignal = () => {
      const now = performance.now();
      // As on the main thread, a repetition of a signal does not count.
      if (last !== undefined && isRepeated(last, { signal, at: now })) return;
      if (last === undefined) endWithin(STOP_WITHIN_MS, `it had not stopped 15 s after ${signal}`);
      else endWithin(HURRY_WITHIN_MS, `${signal} came while it was stopping`);
      last = { signal, at: now };
    };
    handle.start(constants.signals[signal]);
  }
}
