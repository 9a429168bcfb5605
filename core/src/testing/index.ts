export type {
  LocalApplication,
  LocalChannel,
  LocalDiscord,
  LocalGuild,
  LocalInteraction,
  LocalMember,
  LocalMessage,
  LocalRole,
  LocalUser,
} from '@cinnabar/local-discord';
export { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
export { createMemoryDriver, type MemoryDriver } from '../storage/drivers/memory.js';
export {
  createTestHost,
  printErrorsByDefault,
  speakByDefault,
  storeByDefault,
  type TestHost,
  type TestHostOptions,
  type TestLogEntry,
  type TestWorld,
} from './test-host.js';
