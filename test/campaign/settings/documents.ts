import { createFileDriver, type DocumentPath } from '@cinnabar/core';
import {
  type Collections,
  type Document,
  definePlugin,
  type Logger,
  type Settings,
  type SettingsDocument,
  z,
} from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { storageOn } from '../../core/storage/fixture.js';
import { apply, type Content, type Operation, type State } from './operations.js';

const content = z.object({ n: z.number().default(-1), count: z.number().default(0), payload: z.string().default('') });
const settings = { global: content, guild: content } as const;
const collections = {
  byUser: { scope: 'user', version: 1, schema: content },
  byMember: { scope: 'member', version: 1, schema: content },
} as const;

const PATHS = {
  global: ['campaign', 'settings', 'global', 'global'],
  guild: ['campaign', 'settings', 'guild', '100'],
  user: ['campaign', 'collections', 'user', 'byUser', '1'],
  oddUser: ['campaign', 'collections', 'user', 'byUser', '../Ünï?'],
  member: ['campaign', 'collections', 'member', 'byMember', '100:1'],
} as const satisfies Record<string, DocumentPath>;

export type DocumentName = keyof typeof PATHS;
export const DOCUMENT_NAMES = [
  'global',
  'guild',
  'user',
  'oddUser',
  'member',
] as const satisfies readonly DocumentName[];
export const pathOf = (name: DocumentName): DocumentPath => PATHS[name];

/** The documents of the campaign, through a plugin's interface. */
interface Campaigning {
  read(name: DocumentName): Promise<State>;
  carryOut(operation: Operation): Promise<void>;
}

/** Opens real storage on real files. */
export function openDocuments(options: {
  readonly root: string;
  readonly log: Logger;
  readonly onProblem: (document: string) => void;
}): Campaigning {
  const { root, log, onProblem } = options;
  const driver = createFileDriver({ root, journals: `${root}-journals`, clock: createManualClock(), log });
  const storage = storageOn(driver, { log, onProblem: ({ document }) => onProblem(document) });
  const plugin = definePlugin({
    manifest: { id: 'campaign', version: '1.0.0', description: 'Writes until it is killed' },
    settings,
    collections,
    setup: () => undefined,
  });
  const opened = storage.open(plugin);
  const of = {
    settings: opened.settings as Settings<typeof settings>,
    collections: opened.collections as Collections<typeof collections>,
  };
  const inSettings = (document: SettingsDocument<Content>): Held => ({
    read: async () => {
      const found = await document.get();
      return found.n === -1 ? undefined : found;
    },
    set: (value) => document.set(value),
    update: (change) => document.update(change),
    remove: () => document.reset(),
  });
  const inCollection = (document: Document<Content>): Held => ({
    read: () => document.find(),
    set: (value) => document.set(value),
    update: (change) => document.update(change),
    remove: () => document.delete(),
  });
  const held: Readonly<Record<DocumentName, Held>> = {
    global: inSettings(of.settings.global),
    guild: inSettings(of.settings.guild('100')),
    user: inCollection(of.collections.byUser.of('1')),
    oddUser: inCollection(of.collections.byUser.of('../Ünï?')),
    member: inCollection(of.collections.byMember.of({ guildId: '100', userId: '1' })),
  };

  return {
    read: (name) => held[name].read(),
    async carryOut(operation) {
      const document = held[operation.document];
      const wanted = apply(undefined, operation);
      if (wanted === undefined) await document.remove();
      else if (operation.kind === 'set') await document.set(wanted);
      else await document.update((draft) => Object.assign(draft, { n: operation.n, count: draft.count + 1 }));
    },
  };
}

interface Held {
  read(): Promise<State>;
  set(value: Content): Promise<unknown>;
  update(change: (draft: Content) => unknown): Promise<unknown>;
  remove(): Promise<void>;
}
