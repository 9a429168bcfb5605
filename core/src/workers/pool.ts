import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CinnabarError, type Logger, UserError, type WorkerModule } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';
import { type BuildOptions, build } from '../plugins/build/build.js';
import { resetHeapOptions } from '../process/code-cache.js';

/** A thread's task. */
export interface Task {
  /** Path of the bundle that `build` has made. */
  readonly file: string;
  /** The source file of the bundle, from which its packages are resolved. */
  readonly entry: string;
  /** Name of an exported function. */
  readonly name: string;
  readonly input: unknown;
}

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  /** A `UserError`'s message. */
  | { readonly ok: false; readonly sentence: string }
  | { readonly ok: false; readonly trace: string };

/** Sent when the module of a task is loaded, and the work begins. */
interface Loaded {
  readonly loaded: true;
  /** The thread's id, for `cpuMsOf`. */
  readonly thread: string | undefined;
}
/** A thread's messages about a task: its beginning, and its result. */
export type Report = Loaded | Answer;

interface Job extends Task {
  /** Processor time of the thread from the loading of the module on, when the system provides it; otherwise real time. */
  readonly timeoutMs: number;
  readonly group: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Worker threads for untrusted documents. A thread is started when a job needs one, and ended when it was idle for a while; one that exceeds a limit is killed.
 * Uses `node:worker_threads` directly: the libraries for it (piscina, tinypool) count a time limit from the moment a job is queued, have one queue for all
 * callers, and do not expose which threads have loaded a plugin's module.
 */
export interface WorkerPool {
  /** @throws the errors of the SDK's `WorkerModule.run`, and the signal's reason */
  run(job: Job): Promise<unknown>;
  /** Rejects the bundle's jobs and ends every thread that has loaded it: afterwards nothing of that version is in memory. */
  retire(file: string, error: unknown): Promise<void>;
  /** Number of threads. */
  readonly size: number;
  /** Ends all threads; waiting and running jobs are rejected. */
  close(): Promise<void>;
}

interface WorkerPoolOptions {
  readonly log: Logger;
  readonly threads?: number;
  readonly idleMs?: number;
  readonly memoryMb?: number;
}

/** At least two, so that one malicious document does not block all others. */
const THREADS = Math.max(2, Math.min(4, availableParallelism() - 1));
const IDLE_MS = 20_000;
/** Time limit of starting a thread and loading a module, which does not count as the document's time. */
const LOAD_MS = 20_000;
/** A job's limit of real time, as a multiple of its processor time: on a busy machine a thread gets little of the processor. */
const MOST_REAL_TIME = 10;
/** Interval for reading the processor time of a thread. */
const LEAST_LOOK_MS = 20;
const MEMORY_MB = 192;
const YOUNG_MB = 16;
const MOST_WAITING = 256;
const MOST_WAITING_OF_GROUP = 32;
const SCRIPT = new URL('./thread.js', import.meta.url);

interface Pending {
  readonly job: Job;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly loaded: Set<string>;
  current: Pending | undefined;
  /** Ends the thread when it is idle, or when a job takes too long. */
  timer: NodeJS.Timeout | undefined;
}

export function createWorkerPool({
  log,
  threads: most = THREADS,
  idleMs = IDLE_MS,
  memoryMb = MEMORY_MB,
}: WorkerPoolOptions): WorkerPool {
  const threads = new Set<Thread>();
  /** Waiting jobs by group, in the order of the groups' turns. */
  const waiting = new Map<string, Pending[]>();
  let closed = false;

  const start = (): Thread => {
    resetHeapOptions();
    const worker = new Worker(SCRIPT, {
      name: 'cinnabar documents',
      // The thread gets no secrets and no flags of the host.
      env: {},
      execArgv: [],
      argv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const thread: Thread = { worker, loaded: new Set(), current: undefined, timer: undefined };
    worker.unref();
    worker.on('message', (report: Report) => {
      const { current } = thread;
      if (current === undefined) return;
      if ('loaded' in report) return limit(thread, current.job.timeoutMs, report.thread);
      rest(thread);
      settle(current, report);
      return dispatch();
    });
    worker.on('error', (error) => fail(thread, error));
    worker.on('exit', () => fail(thread, new Error('the worker thread ended')));
    threads.add(thread);
    return thread;
  };

  const settle = ({ job, resolve, reject }: Pending, answer: Answer) => {
    if (answer.ok) return resolve(answer.value);
    if ('sentence' in answer) return reject(new UserError(answer.sentence));
    log.warn('a worker could not work through a document', { entry: job.entry, name: job.name, trace: answer.trace });
    return reject(new CinnabarError('CINNABAR_WORKER_FAILED'));
  };

  /** Marks a thread as idle. It is ended after a short time without another job. */
  const rest = (thread: Thread) => {
    clearTimeout(thread.timer);
    thread.current = undefined;
    thread.worker.unref();
    thread.timer = setTimeout(() => void end(thread), idleMs);
    thread.timer.unref();
  };

  /** Kills a thread. Its job, if there is one, gets the error. */
  const end = async (thread: Thread, error?: unknown): Promise<void> => {
    clearTimeout(thread.timer);
    threads.delete(thread);
    const { current } = thread;
    thread.current = undefined;
    current?.reject(error);
    await thread.worker.terminate();
    dispatch();
  };

  const fail = (thread: Thread, error: unknown) => {
    if (!threads.has(thread)) return;
    const isFull = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const job = thread.current?.job;
    if (job !== undefined) log.warn('a worker was lost', { entry: job.entry, name: job.name, error });
    void end(thread, new CinnabarError(isFull ? 'CINNABAR_WORKER_MEMORY' : 'CINNABAR_WORKER_FAILED', {}));
  };

  const next = (): Pending | undefined => {
    for (const [group, pending] of waiting) {
      // Moves the group to the end of the queue.
      waiting.delete(group);
      const first = pending.shift();
      if (pending.length > 0) waiting.set(group, pending);
      if (first !== undefined) return first;
    }
    return undefined;
  };

  const idle = (file: string | undefined): Thread | undefined => {
    const free = [...threads].filter(({ current }) => current === undefined);
    return free.find(({ loaded }) => file !== undefined && loaded.has(file)) ?? free[0];
  };

  const dispatch = () => {
    while (waiting.size > 0 && (threads.size < most || idle(undefined) !== undefined)) {
      const pending = next();
      if (pending !== undefined) begin(pending, idle(pending.job.file) ?? start());
    }
  };

  const begin = (pending: Pending, thread: Thread) => {
    const { file, entry, name, input } = pending.job;
    thread.current = pending;
    thread.loaded.add(file);
    endAfter(thread, LOAD_MS);
    thread.worker.ref();
    try {
      thread.worker.postMessage({ file, entry, name, input } satisfies Task);
    } catch (error) {
      // The input cannot be copied.
      rest(thread);
      pending.reject(error);
    }
  };

  const endAfter = (thread: Thread, limitMs: number) => {
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => endLate(thread, limitMs), limitMs);
  };

  const endLate = (thread: Thread, limitMs: number) => {
    const job = thread.current?.job;
    log.warn('a worker was killed: its job took too long', { entry: job?.entry, name: job?.name, limitMs });
    void end(thread, new CinnabarError('CINNABAR_WORKER_TIMEOUT', { seconds: limitMs / 1000 }));
  };

  /** Ends the thread when it has used this much processor time, or far more real time. */
  const limit = (thread: Thread, limitMs: number, name: string | undefined) => {
    const usedBefore = name === undefined ? undefined : cpuMsOf(name);
    if (name === undefined || usedBefore === undefined) return endAfter(thread, limitMs);
    const lastLookAt = performance.now() + limitMs * MOST_REAL_TIME;
    const look = () => {
      const leftMs = usedBefore + limitMs - (cpuMsOf(name) ?? Number.POSITIVE_INFINITY);
      const leftRealMs = lastLookAt - performance.now();
      if (leftMs <= 0 || leftRealMs <= 0) return endLate(thread, limitMs);
      thread.timer = setTimeout(look, Math.min(Math.max(leftMs, LEAST_LOOK_MS), leftRealMs));
    };
    clearTimeout(thread.timer);
    thread.timer = setTimeout(look, limitMs);
  };

  const drop = (pending: Pending) => {
    const { group } = pending.job;
    const left = (waiting.get(group) ?? []).filter((one) => one !== pending);
    if (left.length > 0) waiting.set(group, left);
    else waiting.delete(group);
  };

  const giveUp = (pending: Pending) => {
    const reason: unknown = pending.job.signal?.reason;
    const thread = [...threads].find(({ current }) => current === pending);
    if (thread !== undefined) void end(thread, reason);
    else {
      drop(pending);
      pending.reject(reason);
    }
  };

  const refusalOf = ({ group, signal }: Job): unknown => {
    if (closed) return new CinnabarError('CINNABAR_WORKER_FAILED');
    if (signal?.aborted === true) return signal.reason;
    const total = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
    const isFull = total >= MOST_WAITING || (waiting.get(group)?.length ?? 0) >= MOST_WAITING_OF_GROUP;
    return isFull ? new CinnabarError('CINNABAR_WORKER_BUSY') : undefined;
  };

  return {
    run(job) {
      const refusal = refusalOf(job);
      if (refusal !== undefined) return Promise.reject(refusal);
      let abort: () => void = () => undefined;
      return new Promise((resolve, reject) => {
        const pending = { job, resolve, reject };
        abort = () => giveUp(pending);
        job.signal?.addEventListener('abort', abort, { once: true });
        waiting.set(job.group, [...(waiting.get(job.group) ?? []), pending]);
        dispatch();
      }).finally(() => job.signal?.removeEventListener('abort', abort));
    },
    async retire(file, error) {
      for (const pending of [...waiting.values()].flat().filter(({ job }) => job.file === file)) {
        drop(pending);
        pending.reject(error);
      }
      const holders = [...threads].filter(({ loaded }) => loaded.has(file));
      await Promise.all(holders.map((thread) => end(thread, error)));
    },
    get size() {
      return threads.size;
    },
    async close() {
      closed = true;
      const error = new CinnabarError('CINNABAR_WORKER_FAILED');
      for (const pending of [...waiting.values()].flat()) pending.reject(error);
      waiting.clear();
      await Promise.all([...threads].map((thread) => end(thread, error)));
    },
  };
}

/** Unit of the fields of `stat`, in every build of Linux (USER_HZ). */
const TICK_MS = 10;

/**
 * Processor time that a thread of this process has used, in milliseconds, to 10 ms; `undefined` where the system does not report it. Node 20 reports only that
 * of the whole process, and a busy thread does not answer.
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function cpuMsOf(thread: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${thread}/stat`, 'utf8');
    // The second field is a name in parentheses, which may contain anything. utime is the 14th field, stime the 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}

export interface WorkerService {
  /** A worker module for one run of a plugin. Its jobs, and then its threads, end with the plugin's scope. */
  module<M extends object>(owner: Pick<Owner, 'id' | 'scope'>, url: URL): WorkerModule<M>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;

export function createWorkers(pool: WorkerPool, options: Omit<BuildOptions, 'verify'>): WorkerService {
  return {
    module({ id, scope }, url) {
      const entry = sourceOf(fileURLToPath(url));
      let built: Promise<string> | undefined;
      /** Built once in a run of the plugin, so that all jobs use the same version. */
      const file = () => {
        built ??= build(
          { id: `${id}-${basename(entry, extname(entry))}`, path: packageOf(entry), entry },
          { ...options, verify: false },
        );
        return built;
      };
      scope.add(`worker ${basename(entry)}`, async () => {
        const loaded = await built?.catch(() => undefined);
        if (loaded !== undefined) await pool.retire(loaded, scope.signal.reason);
      });
      return {
        async run(name, input, { timeoutMs = TIMEOUT_MS, group = id, signal } = {}) {
          const loadable = await file();
          scope.signal.throwIfAborted();
          const value = await pool.run({ file: loadable, entry, name, input, timeoutMs, group, signal });
          // The value is the result of the function whose type the caller has given.
          return value as never;
        },
      };
    },
    close: pool.close,
  };
}

/** The file of a module: TypeScript sources name their modules with `.js`, as after compilation. */
function sourceOf(file: string): string {
  const typescript = file.replace(/\.js$/, '.ts');
  return existsSync(file) || !existsSync(typescript) ? file : typescript;
}

/** The folder with the nearest package.json. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return dirname(file);
}
