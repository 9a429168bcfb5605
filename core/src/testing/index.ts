export { createTestHost, type TestHost, type TestHostOptions, type TestWorld } from './test-host.js';
