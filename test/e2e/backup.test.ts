import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentPath, Driver } from '@cinnabar/core';
import {
  Backups,
  type CollectionDefinition,
  type Plugin,
  type SettingInfo,
  SettingsCatalog,
  sentenceOf,
} from '@cinnabar/sdk';
import { expect } from 'chai';
import { heldBy } from '../core/backup/world.js';
import { cinnabar } from '../support/cinnabar.js';
import { commandPlace, isInPostgres, openData } from '../support/data.js';
import { makeFolder } from '../support/folder.js';
import { startWholeBot, type WholeBot } from './support/whole-bot.js';

const PLUGINS = new URL('../../../plugins/', import.meta.url);

async function bundled(): Promise<readonly Plugin[]> {
  return Promise.all(
    readdirSync(PLUGINS).map(async (folder) => {
      const { default: plugin }: { readonly default: Plugin } = await import(
        new URL(`${folder}/dist/index.js`, PLUGINS).href
      );
      return plugin;
    }),
  );
}

/** A value that differs from the current one, in typed form. */
function another({ control, value }: SettingInfo): string | undefined {
  if (control.kind === 'boolean') return value === true ? 'no' : 'yes';
  if (control.kind === 'choice') return control.values.map(String).find((one) => one !== String(value));
  if (control.kind !== 'number' || typeof value !== 'number') return undefined;
  return String(value > (control.min ?? 0) ? value - 1 : value + 1);
}

/** Changes one setting of each plugin that has some. @returns the new values, by plugin and key */
async function changeSettings(host: WholeBot): Promise<ReadonlyMap<string, unknown>> {
  const catalog = host.resolve(SettingsCatalog);
  const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
  const changed = new Map<string, unknown>();
  for (const plugin of catalog.plugins()) {
    for (const info of await catalog.describe(plugin, actor)) {
      const text = another(info);
      if (text === undefined || info.scope === 'role') continue;
      try {
        changed.set(`${plugin} ${info.key}`, (await catalog.set(plugin, info.key, text, actor)).value);
        break;
      } catch (error) {
        // Some values fit the schema but are refused; another setting is tried then.
        if (sentenceOf(error) === undefined) throw error;
      }
    }
  }
  return changed;
}

async function settingsOf(host: WholeBot, keys: Iterable<string>): Promise<ReadonlyMap<string, unknown>> {
  const catalog = host.resolve(SettingsCatalog);
  const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
  const found = new Map<string, unknown>();
  for (const name of keys) {
    const [plugin = '', key] = name.split(' ');
    found.set(name, (await catalog.describe(plugin, actor)).find((info) => info.key === key)?.value);
  }
  return found;
}

/** A document in every collection and a line in a journal of every plugin, for a server without the bot. */
async function plantEverywhere(driver: Driver, plugins: readonly Plugin[]): Promise<readonly DocumentPath[]> {
  const planted: DocumentPath[] = [];
  for (const { manifest, collections } of plugins) {
    for (const [name, { scope, version }] of Object.entries<CollectionDefinition>(collections)) {
      const key = scope === 'member' ? '77:78' : '77';
      const path = [manifest.id, 'collections', scope, name, key];
      await driver.write(path, { version, data: { planted: name } });
      planted.push(path);
    }
    const journal = driver.journal([manifest.id, 'planted', '77']);
    await journal.replace('{"planted":1}\n');
    await journal.release();
  }
  return planted;
}

/** The stored data: documents and journals of any driver, and files by path. */
async function contentOf(driver: Driver, dataDir: string) {
  return { stored: await heldBy(driver), files: filesBelow(dataDir) };
}

/** All files except logs, caches, the lock and backups. */
function filesBelow(dataDir: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(dataDir.length + 1);
    if (!entry.isFile() || /^(?:logs|cache|backups|before-restore-[^/]+)\/|^lock/.test(path)) continue;
    found.set(path, readFileSync(join(dataDir, path), 'utf8'));
  }
  return found;
}

describe('a backup of the whole bot', () => {
  it('made while it runs brings back what every bundled plugin had, and the bot starts with it', async function () {
    this.timeout(60_000);
    const plugins = await bundled();
    using folder = makeFolder();
    const dataDir = folder.path;
    // Closed by the host.
    const driver = await openData(dataDir);
    await using host = await startWholeBot({ dataDir, driver });
    await host.hears('!prefix add ?', host.you);
    const changed = await changeSettings(host);
    const withSettings = host.resolve(SettingsCatalog).plugins();
    expect(new Set([...changed.keys()].map((name) => name.split(' ')[0]))).to.deep.equal(new Set(withSettings));
    const planted = await plantEverywhere(driver, plugins);
    expect(planted.length).to.be.greaterThan(40);
    const before = await contentOf(driver, dataDir);
    const { name, files } = await host.resolve(Backups).create();
    expect(files).to.equal(before.files.size + (isInPostgres() ? before.stored.documents + before.stored.journals : 0));

    await host.stop();
    const file = join(dataDir, 'backups', name);
    {
      await using broken = await openData(dataDir);
      for (const path of await broken.list([], 'all')) await broken.erase(path);
      await broken.eraseJournals('tasks');
      await broken.journal(['party', 'planted', '77']).replace('broken\n');
      await broken.write(['stray', 'x'], { version: 1, data: {}, guildId: null });
    }
    {
      using place = await commandPlace(dataDir);
      const { code, err } = await cinnabar(['restore', file], place);
      expect(code, err).to.equal(0);
      await using restored = await openData(dataDir);
      expect(await contentOf(restored, dataDir)).to.deep.equal(before);
      // The plugins cannot use the planted documents.
      for (const path of planted) await restored.erase(path);
      for (const { manifest } of plugins) await restored.journal([manifest.id, 'planted', '77']).erase();
    }
    await using again = await startWholeBot({ world: host, dataDir });
    expect(await settingsOf(again, changed.keys())).to.deep.equal(changed);
    const [prefixes] = await again.hears('?prefix show', again.alice);
    expect(prefixes?.content).to.include('`?`');
  });
});
