/**
 * Root hooks of mocha: a file of end-to-end tests fails if the bot sends a text from its code to Discord that a German member would read in English. The tests
 * are not affected: the bot uses English, and records the looked-up messages.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { speakByDefault } from '@cinnabar/core/testing';
import { REST_EXCHANGES } from '@cinnabar/local-discord';
import type { Context, Suite } from 'mocha';
import { createWatch, type Watch } from './watch.js';

let watch: Watch | undefined;
let found: string[] = [];

let isElsewhere = false;

const noted = (exchange: unknown) => {
  if (!isElsewhere) watch?.sent(exchange);
};

/** For files whose bots run in child processes, where nothing is recorded: the rest of the file is not checked. */
export function leaveUnwatched(): void {
  isElsewhere = true;
}

function compare(when: string): void {
  for (const { text, file, sent } of watch?.untranslated() ?? []) {
    if (isElsewhere) continue;
    found.push(`${when}: “${text}” of ${file}, in ${JSON.stringify(sent.slice(0, 200))}`);
  }
}

function stop(): void {
  unsubscribe(REST_EXCHANGES, noted);
  speakByDefault(undefined);
  watch = undefined;
}

const isEndToEnd = ({ suites }: Suite) =>
  suites.length > 0 && suites.every(({ file }) => /[\\/]e2e[\\/]/.test(file ?? ''));

export const mochaHooks = {
  beforeAll(this: Context) {
    const root = this.test?.parent;
    // Also ends the recording of a file whose last hook did not run.
    stop();
    if (root === undefined || !isEndToEnd(root)) return;
    isElsewhere = false;
    found = [];
    watch = createWatch();
    speakByDefault(watch.language);
    subscribe(REST_EXCHANGES, noted);
  },
  afterEach(this: Context) {
    compare(this.currentTest?.fullTitle() ?? '');
  },
  afterAll() {
    if (watch === undefined) return;
    compare('after the last test');
    stop();
    const lines = found;
    found = [];
    if (lines.length > 0) throw new Error(['In the code, and in no catalogue:', ...new Set(lines)].join('\n  '));
  },
};
