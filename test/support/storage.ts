/** Root hooks of mocha: each test file has its storage. */
import type { Context } from 'mocha';
import { storeDataOf } from './data.js';

export const mochaHooks = {
  beforeAll(this: Context) {
    storeDataOf(this.test?.parent?.suites.map(({ file }) => file) ?? []);
  },
};
