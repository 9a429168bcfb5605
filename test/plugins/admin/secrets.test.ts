import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type LocalInteraction, type LocalMessage, type TestHost } from '@cinnabar/core/testing';
import { AuditLog, Backups, definePlugin, Redaction, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';

const VALUE = 'sk-hunter2-hunter2-hunter2';

/** The secret that the running version of the plugin `bank` received. */
let given: string | undefined;
const bank = definePlugin({
  manifest: { id: 'bank', version: '1.0.0', description: 'Keeps money' },
  env: z.object({
    BANK_KEY: z
      .string()
      .regex(/^sk-/, 'must begin with sk-')
      .optional()
      .meta({ secret: true })
      .describe('Key of the bank'),
    BANK_PIN: z.string().optional().meta({ secret: true }).describe('Its PIN'),
    BANK_URL: z.string().optional(),
  }),
  setup({ env }) {
    given = env.BANK_KEY;
  },
});

describe('admin: secrets', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({
      plugins: ['admin', bank],
      env: { BANK_PIN: 'pin-from-environment' },
      logFiles: true,
    });
  });
  after(() => host[Symbol.asyncDispose]());

  const done = async (interaction: LocalInteraction) => {
    await host.settled();
    return interaction;
  };
  const opened = async (): Promise<LocalMessage> => {
    const [page] = (await host.you.slash(host.general, 'secrets', {}).answered()).messages;
    if (page === undefined) throw new Error('there is no page');
    return page;
  };
  const pageOf = async (name: string) => {
    const page = await opened();
    await done(host.you.select(page, 'Choose a secret', [name]));
    return page;
  };
  const audited = async () => (await host.resolve(AuditLog).recent(host.guild.id, 1))[0];
  const everything = async () => {
    const said = [...host.general.messages, ...host.you.openDm(host.application).messages].map(
      ({ content }) => content,
    );
    return JSON.stringify([said, await host.resolve(AuditLog).recent(host.guild.id, 50)]);
  };

  it('are listed for the owner of the bot alone: which are set, from where, never what they are', async () => {
    const page = await opened();
    expect(page.visibleTo).to.equal(host.you);
    expect(page.content)
      .to.include('`BANK_KEY` (bank): not set')
      .and.include('`BANK_PIN` (bank): set, in the environment');
    expect(page.content).to.not.include('BANK_URL').and.not.include('pin-from');
    host.alice.say(host.general, '!secrets');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.include("you need to be at least the bot's owner");
  });

  it('are set in a form, checked by the plugin, stored for the user of the process alone, and used at once', async () => {
    const page = await pageOf('BANK_KEY');
    const form = await done(host.you.click(page, 'Set …'));
    await done(host.you.submit(form, { value: 'wrong' }));
    expect(page.content)
      .to.include('The value for "BANK_KEY" is not right: must begin with sk-.')
      .and.not.include('wrong');
    expect(given).to.equal(undefined);
    await done(host.you.submit(await done(host.you.click(page, 'Set …')), { value: VALUE }));
    expect(page.content).to.include('✓ Saved.\nLoaded again: `bank`.').and.include('set, stored by the bot');
    expect(given).to.equal(VALUE);
    expect(await audited()).to.include({ act: 'secrets set BANK_KEY', outcome: 'done', userId: host.you.id });
    const file = join(host.dataDir, 'secrets.json');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file, 'utf8')).to.include(VALUE);
    expect(await everything()).to.not.include('hunter2');
    expect(host.resolve(Redaction).text(`It is ${VALUE}.`)).to.equal('It is [redacted].');
    expect((await host.resolve(Backups).create()).leftOut).to.deep.equal([]);
  });

  it('come from the environment first, which only its owner changes', async () => {
    const page = await pageOf('BANK_PIN');
    expect(page.content).to.include('It is set in the environment, which comes first: change it there.');
    expect(() => host.you.click(page, 'Set …')).to.throw('No button');
  });

  it('are still there after a restart, and gone when they are deleted', async () => {
    await host.stop();
    given = undefined;
    const { dataDir } = host;
    const again = await createTestHost({ plugins: ['admin', bank], world: host, dataDir, logFiles: true });
    expect(given).to.equal(VALUE);
    const [page] = (await host.you.slash(host.general, 'secrets', { name: 'BANK_KEY' }).answered()).messages;
    if (page === undefined) throw new Error('there is no page');
    host.you.click(page, 'Delete');
    await again.settled();
    expect(page.content).to.include('✓ Saved.').and.include('not set');
    expect(given).to.equal(undefined);
    expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).to.not.include('hunter2');
    await again.stop();
    expect(JSON.stringify(await readLogs(again))).to.not.include('hunter2');
    await host[Symbol.asyncDispose]();
    host = await createTestHost({
      plugins: ['admin', bank],
      env: { BANK_PIN: 'pin-from-environment' },
      logFiles: true,
    });
  });

  it('that are typed into a channel are deleted, called leaked, and in no record', async () => {
    const leaked = 'correct-horse-battery';
    const message = host.you.say(host.general, `!secrets set BANK_KEY ${leaked}`);
    await host.settled();
    expect(message.deleted).to.equal(true);
    const answer = host.general.messages.at(-1);
    expect(answer?.content).to.include('I have deleted your message.').and.include('consider it leaked');
    const theirs = host.alice.say(host.general, `!secrets set BANK_KEY ${leaked}`);
    await host.settled();
    expect(theirs.deleted).to.equal(false);
    expect(JSON.stringify(await host.resolve(AuditLog).recent(host.guild.id, 50))).to.not.include('horse');
    // The name before the value is not secret.
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    host.resolve(AuditLog).record({ actor, act: 'secrets set BANK_KEY', outcome: 'done' });
    await host.settled();
    expect(await audited()).to.include({ act: 'secrets set BANK_KEY' });
    if (answer === undefined) throw new Error('there is no answer');
    const way = await done(host.you.click(answer, 'Open the secrets'));
    expect(way.messages.at(-1)?.visibleTo).to.equal(host.you);
  });

  it('are refused by a form that was left open', async () => {
    const page = await pageOf('BANK_KEY');
    const form = await done(host.you.click(page, 'Set …'));
    await host.advance(6 * 60_000);
    await done(host.you.submit(form, { value: VALUE }));
    expect(page.content).to.include('too old, so nothing was changed').and.include('not set');
    expect(JSON.stringify(await readLogs(host)))
      .to.not.include('hunter2')
      .and.not.include('horse');
  });
});
