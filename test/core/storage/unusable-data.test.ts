import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryDriver, createTestHost, type MemoryDriver, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';

const diary = definePlugin({
  manifest: { id: 'diary', version: '1.0.0', description: 'Keeps notes' },
  collections: {
    notes: { scope: 'guild', version: 1, schema: z.object({ lines: z.array(z.string()).default([]) }) },
  },
  setup({ command, collections }) {
    command({
      name: 'note',
      description: 'Notes something',
      options: { text: z.string() },
      async run(ctx, { text }) {
        const notes = collections.notes.of(ctx.actor.guildId ?? 'none');
        await notes.update((draft) => {
          draft.lines.push(text);
        });
        await ctx.reply(`Noted: ${text}`);
      },
    });
  },
});

const HOUR = 60 * 60_000;
const CODES = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EMFILE'] as const;

function refusal(code: string): Error {
  const path = '/var/lib/cinnabar/documents/diary/notes/1.json';
  return Object.assign(new Error(`${code}: it does not work, open '${path}'`), { code, syscall: 'open', path });
}

/** The direct messages to the bot's owner. */
const received = (host: TestHost) => host.you.openDm(host.application).messages.map(({ content }) => content);

/** The bot's answer. */
async function note(host: TestHost, text: string): Promise<string> {
  const since = host.alice.say(host.general, `!note ${text}`);
  await host.settled();
  return (await host.discord.expectMessage({ channel: host.general, author: host.bot, since })).content;
}

describe('a disk that takes nothing', () => {
  for (const code of CODES) {
    it(`${code}: members read that nothing can be saved, the owner why and what to do`, async () => {
      const driver: MemoryDriver = createMemoryDriver();
      await using host = await createTestHost({ plugins: [diary], driver });
      driver.failWrites(refusal(code), 3);
      expect(await note(host, 'one')).to.match(
        /^I cannot save anything at the moment. It has been logged \(reference `[^\s`]+`\)\.$/,
      );
      expect(await note(host, 'two')).to.match(
        /^I cannot save anything at the moment. It has been logged \(reference `[^\s`]+`\)\.$/,
      );
      await host.advance(10_000);
      const [notice = '', ...others] = received(host);
      expect(others).to.deep.equal([]);
      expect(notice).to.match(
        new RegExp(
          code === 'EACCES'
            ? 'I could not save diary/collections/guild/notes/.* \\(EACCES\\)'
            : `I could not save anything: .* \\(${code}, diary/collections/guild/notes/`,
        ),
      );
      driver.failWrites(refusal(code), 0);
      await host.advance(HOUR);
      expect(await note(host, 'three'), 'it goes on by itself').to.equal('Noted: three');
    });
  }
});

describe('data that cannot be used', () => {
  it('stops the start with a sentence when a file is in the place of a folder', async () => {
    using folder = makeFolder();
    mkdirSync(join(folder.path, 'documents'));
    writeFileSync(join(folder.path, 'documents', '%40host'), '');
    const error = await failure('CINNABAR_DATA_UNUSABLE', () => createTestHost({ plugins: [], dataDir: folder.path }));
    expect(error.message).to.include(folder.path).and.to.include('a file is in the place of a folder (ENOTDIR');
  });

  it('stops the start with a sentence when a folder in it may not be read', async () => {
    const denied = async () => {
      throw refusal('EACCES');
    };
    const driver = { ...createMemoryDriver(), list: denied };
    const error = await failure('CINNABAR_DATA_UNUSABLE', () => createTestHost({ plugins: [], driver }));
    expect(error.message).to.include('access is denied (EACCES').and.to.include('Give the user that runs the bot');
  });

  it('is reported to members in a sentence, and to the owner with the path, when a folder is in the place of a document', async () => {
    await using host = await createTestHost({ plugins: [diary] });
    const { dataDir, guild } = host;
    mkdirSync(join(dataDir, 'documents', 'diary', 'collections', 'guild', 'notes', `${guild.id}.json`), {
      recursive: true,
    });
    expect(await note(host, 'one')).to.match(
      /^I cannot read what I have stored at the moment. It has been logged \(reference `[^\s`]+`\)\.$/,
    );
    await host.advance(10_000);
    const [notice = ''] = received(host);
    expect(notice).to.include(
      `diary/collections/guild/notes/${guild.id} cannot be read: a folder is in the place of a file`,
    );
    expect(notice).to.include(`${guild.id}.json`).and.to.include('Move that folder away.');
  });
});

describe('the folder of data, removed while the bot runs', () => {
  it('is not created again from half of its content: nothing is saved, and the owner is notified', async () => {
    using folder = makeFolder();
    await using host = await createTestHost({ plugins: [diary], dataDir: folder.path });
    rmSync(folder.path, { recursive: true });
    expect(await note(host, 'one')).to.match(
      /^I cannot save anything at the moment. It has been logged \(reference `[^\s`]+`\)\.$/,
    );
    await host.advance(10_000);
    expect(received(host).join('\n')).to.match(/I could not save anything: the folder is gone \(ENOENT.* Put it back/);
    expect(existsSync(join(folder.path, 'documents'))).to.equal(false);
  });
});
