import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileDriver, type Driver } from '@cinnabar/core';
import { createIdentities, identitySchema } from '@cinnabar/core/internal/identities/identities';
import { openJournals } from '@cinnabar/core/internal/storage/files';
import { createStorage, type StorageOptions } from '@cinnabar/core/internal/storage/storage';
import { createMemoryDriver } from '@cinnabar/core/testing';
import {
  type Clock,
  type CollectionDefinitions,
  type Collections,
  definePlugin,
  type Settings,
  type SettingsSchemas,
} from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from '../../support/logs.js';

/** A temporary folder, removed at the end of the test. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'cinnabar-storage-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A plugin with stored data and an empty `setup`. */
export function storingPlugin<
  const S extends SettingsSchemas = Record<never, never>,
  const C extends CollectionDefinitions = Record<never, never>,
>(declared: { readonly id?: string; readonly settings?: S; readonly collections?: C }) {
  const { id = 'party', settings, collections } = declared;
  return definePlugin({
    manifest: { id, version: '1.0.0', description: 'Stores things' },
    ...(settings === undefined ? {} : { settings }),
    ...(collections === undefined ? {} : { collections }),
    setup: () => undefined,
  });
}

/** An unusable document. */
export type Problem = Parameters<NonNullable<StorageOptions['onProblem']>>[0];

/** The stored data of plugins, on any driver. */
export function storageOn(driver: Driver, options: Partial<StorageOptions> = {}) {
  return createStorage({ driver, log: recordingLogger(), ...options });
}

/** Storage on a memory driver, with the objects that tests inspect. */
export function memoryStorage(options: Partial<StorageOptions> = {}) {
  const driver = createMemoryDriver();
  const log = recordingLogger();
  const storage = storageOn(driver, { log, ...options });
  return { driver, log, storage, ...opener(storage) };
}

/** The journals of a plugin; without one, their paths are those of the driver. */
export function journalsOn(driver: Driver, plugin?: string) {
  return openJournals(driver, plugin === undefined ? [] : [plugin]);
}

/** Journals in a folder. */
export function journalsIn(folder: string, clock: Clock = createManualClock()) {
  return journalsOn(createFileDriver({ root: folder, journals: folder, clock, log: recordingLogger() }));
}

type StorageService = ReturnType<typeof storageOn>;

/** The host's store of agents and other identities. */
export function identitiesIn(
  storage: StorageService,
  isOn: (guildId: string | null, plugin: string) => Promise<boolean> = async () => true,
) {
  return createIdentities({
    documents: storage.collection('identities', {
      scope: 'global',
      version: 1,
      schema: identitySchema,
      shared: true,
    }),
    onGap: storage.onGap,
    isOn,
    log: recordingLogger(),
  });
}

/** Opens storage with the types of its declarations, as a plugin's context does. */
export function opener(storage: ReturnType<typeof storageOn>) {
  return {
    open<
      const S extends SettingsSchemas = Record<never, never>,
      const C extends CollectionDefinitions = Record<never, never>,
    >(declared: { readonly id?: string; readonly settings?: S; readonly collections?: C }) {
      const opened = storage.open(storingPlugin(declared));
      const { onChange } = opened;
      return { settings: opened.settings as Settings<S>, collections: opened.collections as Collections<C>, onChange };
    },
  };
}
