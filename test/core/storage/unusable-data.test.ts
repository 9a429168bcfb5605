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
    pages: { scope: 'global', version: 1, schema: z.object({ turned: z.number().default(0) }) },
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
    command({
      name: 'page',
      description: 'Turns a page',
      options: { name: z.string() },
      async run(ctx, { name }) {
        await collections.pages.of(name).update((draft) => {
          draft.turned += 1;
        });
        await ctx.reply(`Turned: ${name}`);
      },
    });
    command({
      name: 'tear',
      description: 'Removes a page',
      options: { name: z.string() },
      async run(ctx, { name }) {
        await collections.pages.of(name).delete();
        await ctx.reply(`Torn: ${name}`);
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

const note = (host: TestHost, text: string) => answer(host, `!note ${text}`);

/** The bot's answer. */
async function answer(host: TestHost, line: string): Promise<string> {
  const since = host.alice.say(host.general, line);
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

/** A bot with this diary on a disk on which writes fail with the code that `fails` gives for the document. */
async function diaryOn(fails: (document: string) => string | undefined): Promise<TestHost> {
  const memory = createMemoryDriver();
  return createTestHost({
    plugins: [diary],
    driver: {
      ...memory,
      async write(path, stored) {
        const code = fails(path.join('/'));
        if (code !== undefined) throw refusal(code);
        await memory.write(path, stored);
      },
    },
  });
}

describe('the watch over the disk', () => {
  it('does not take a removal, which needs no room, for the end of a full disk', async () => {
    let code: string | undefined;
    await using host = await diaryOn(() => code);
    await answer(host, '!page a');
    code = 'ENOSPC';
    for (const page of ['b', 'c', 'd']) {
      expect(await answer(host, `!page ${page}`)).to.match(/^I cannot save anything at the moment/);
      expect(await answer(host, '!tear a')).to.equal('Torn: a');
    }
    await host.advance(10_000);
    const notices = received(host);
    expect(notices).to.have.length(1);
    expect(notices[0]).to.match(/I could not save anything: the disk is full \(ENOSPC, diary\/.*pages\/b\)\./);
    code = undefined;
    expect(await answer(host, '!page b')).to.equal('Turned: b');
    await host.advance(HOUR);
    expect(received(host).join('\n')).to.include('I could save data again.');
  });

  it('names the one file that cannot be written while others can, once', async () => {
    let isBlocked = true;
    await using host = await diaryOn((name) => (isBlocked && name.endsWith('pages/a') ? 'EISDIR' : undefined));
    for (let round = 0; round < 3; round += 1) {
      expect(await answer(host, '!page a')).to.match(/^I cannot save anything at the moment/);
      expect(await answer(host, '!page b')).to.equal('Turned: b');
      await host.advance(10_000);
    }
    const notices = received(host);
    expect(notices).to.have.length(1);
    expect(notices[0]).to.match(/I could not save diary\/.*pages\/a: a folder is in the place of a file \(EISDIR\)\./);
    isBlocked = false;
    expect(await answer(host, '!page a')).to.equal('Turned: a');
    isBlocked = true;
    await answer(host, '!page a');
    await host.advance(HOUR);
    expect(received(host)).to.have.length(2);
  });
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
