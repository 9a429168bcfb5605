import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { loadConfig } from '@cinnabar/core';
import { runGuildFile } from '@cinnabar/core/internal/cli/guild-file';
import { createTestHost } from '@cinnabar/core/testing';
import { AuditLog, GuildFiles } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';

describe('cinnabar plan, apply, export and undo', () => {
  it('do for the stopped bot what `!server` does for the running one, and not while it runs', async () => {
    using home = makeFolder();
    const dataDir = join(home.path, 'data');
    await using host = await createTestHost({ plugins: ['admin', 'accounts', 'chat', 'llm', 'party'], dataDir });
    host.guild.createRole({ name: 'Fixers' });
    const env = {
      CINNABAR_DATA: dataDir,
      DISCORD_TOKEN: host.application.token,
      DISCORD_API: host.discord.api,
      BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH ?? join(home.path, 'cache'),
    };
    const run = async (act: 'plan' | 'apply' | 'export' | 'undo', operand: string, more = env) => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const config = { ...loadConfig(home.path, more, undefined), buildCacheDir: env.BUILD_CACHE_PATH };
      const code = await runGuildFile(act, [operand], config, { stdout, stderr, cwd: () => home.path });
      stdout.end();
      stderr.end();
      return { code, said: await text(stdout), warned: await text(stderr) };
    };
    await failure('CINNABAR_DATA_IN_USE', () => run('export', host.guild.id));
    const running = await host.resolve(GuildFiles).export(host.guild.id);
    await host.stop();

    const before = await run('export', host.guild.id);
    expect(before.said).to.include(running.slice(running.indexOf('prefixes:'), running.indexOf('settings:')));
    const yaml = [`server: "${host.guild.id}"`, 'plugins: { party: off }', 'roles: { mod: [Fixers] }'].join('\n');
    writeFileSync(join(home.path, 'server.yaml'), yaml);
    expect((await run('plan', 'server.yaml')).said).to.match(
      /^\+ plugins\.party: off\n\+ roles\.mod: \d+ \(Fixers\)\n$/,
    );
    expect((await run('apply', 'server.yaml')).said).to.match(/Applied\.\n$/);
    expect((await run('plan', 'server.yaml')).said).to.equal('Nothing to change: the server is as the file says.\n');
    const withoutToken = await run('plan', 'server.yaml', { ...env, DISCORD_TOKEN: '' }).catch(String);
    expect(withoutToken).to.include('line 3: roles.mod.0: names are looked up at Discord, which needs DISCORD_TOKEN');

    const { discord, application, guild, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using again = await createTestHost({ plugins: ['admin', 'party'], dataDir, world });
    expect(again.plugins.enabledIn(guild.id, 'party')).to.equal(false);
    const [act] = await again.resolve(AuditLog).recent(guild.id, 1);
    expect(act).to.include({ userId: 'command line', outcome: 'done' });
    await again.stop();
    await run('undo', guild.id);
    expect((await run('export', guild.id)).said).to.equal(before.said);
  });
});
