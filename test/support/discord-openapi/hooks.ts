/**
 * Root hooks of mocha: a test fails in which a local Discord was asked, or answered, what Discord's description of its API does not admit.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { REST_EXCHANGES } from '@cinnabar/sdk/testing';
import { createExchangeCheck } from './exchange-check.js';

const { collect, assertAdmitted } = createExchangeCheck();

export const mochaHooks = {
  beforeAll() {
    subscribe(REST_EXCHANGES, collect);
  },
  afterEach: assertAdmitted,
  afterAll() {
    unsubscribe(REST_EXCHANGES, collect);
    assertAdmitted();
  },
};
