/**
 * Root hooks of mocha: a test file fails if a request to a local Discord, or its response, violates Discord's description of its API. The violations are
 * reported after all tests of the file, since a failing hook would end the file.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { REST_EXCHANGES } from '@cinnabar/local-discord';
import type { Context } from 'mocha';
import { createExchangeCheck } from './exchange-check.js';

/** Maximum number of reported violations. */
const LISTED = 20;

const { collect, violations } = createExchangeCheck();
let found: string[] = [];

function compare(when: string): void {
  found.push(...violations().map((line) => `${when}: ${line}`));
}

export const mochaHooks = {
  beforeAll() {
    // Also ends the recording of a file whose last hook did not run.
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
