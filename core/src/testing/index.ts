export { createTestHost, type TestHost, type TestHostOptions } from './test-host.js';
