/**
 * Root hooks of mocha: a file fails in which a local Discord was asked, or answered, what Discord's description of its API does not admit.
 * Its tests run to the end all the same: a hook that fails after one test would end the file there.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { REST_EXCHANGES } from '@cinnabar/local-discord';
import type { Context } from 'mocha';
import { createExchangeCheck } from './exchange-check.js';

/** How many violations are listed. */
const LISTED = 20;

const { collect, violations } = createExchangeCheck();
let found: string[] = [];

function compare(when: string): void {
  found.push(...violations().map((line) => `${when}: ${line}`));
}

export const mochaHooks = {
  beforeAll() {
    // Also where a failure of the file before kept its last hook from running.
    unsubscribe(REST_EXCHANGES, collect);
    found = [];
    subscribe(REST_EXCHANGES, collect);
  },
  afterEach(this: Context) {
    compare(this.currentTest?.fullTitle() ?? '');
  },
  afterAll() {
    unsubscribe(REST_EXCHANGES, collect);
    compare('after the last test');
    const lines = found;
    found = [];
    if (lines.length === 0) return;
    const more = lines.length > LISTED ? [`… and ${lines.length - LISTED} more`] : [];
    throw new Error(["Discord's description does not admit:", ...lines.slice(0, LISTED), ...more].join('\n  '));
  },
};
