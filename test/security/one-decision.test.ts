import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

/** Computations of permissions: `channel.permissionsFor(member)`, `member.permissionsIn(channel)`. */
const ASKED = /\.permissions(?:For|In)\(([^()]*(?:\([^()]*\))?[^()]*)\)/g;
/** Permissions of the bot itself or of @everyone give no member access. */
const OF_THE_BOT = /^(?:me|parts\.client\.user|client\.user|this\.#?me|channel\.guild\.roles\.everyone)$/;

/** Files that compute permissions of other subjects, each with the reason why that does not decide about reading. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'plugins/chat/src/history/pins.ts': 'whether an author may pin',
  'plugins/chat/src/loop/reply.ts': 'whether another bot can be pinged; it opens nothing',
  'plugins/chat/src/history/history-command.ts': 'whether an author may manage messages',
  'plugins/discord-tools/src/tools/channels.ts':
    'which permissions the asker may give away; asked of Discord just before',
  'plugins/moderation/src/channels.ts':
    'what roles of moderators can do in a channel, so that its lock opens nothing to them',
};

describe('security: the one decision on who may enter a channel', () => {
  it('is made in core/src/access and nowhere else', async () => {
    const found: Record<string, readonly string[]> = {};
    for (const path of [...(await sources('core/src')), ...(await sources('plugins')), ...(await sources('sdk/src'))]) {
      if (path.includes('/testing/') || path.startsWith('core/src/access/')) continue;
      const text = await readFile(path, 'utf8');
      const others = [...text.matchAll(ASKED)]
        .map(([, whose = '']) => whose.trim())
        .filter((one) => !OF_THE_BOT.test(one));
      if (others.length > 0) found[path] = others;
    }
    const strangers = Object.keys(found).filter((path) => ELSEWHERE[path] === undefined);
    expect(strangers, 'ask `Access.mayEnter` there').to.deep.equal([]);
    expect(
      Object.keys(ELSEWHERE).filter((path) => found[path] === undefined),
      'no longer needed',
    ).to.deep.equal([]);
  });

  it('nothing but the module of memberships asks the cache, or Discord, who is in a thread', async () => {
    const asking: string[] = [];
    for (const path of [...(await sources('core/src')), ...(await sources('plugins')), ...(await sources('sdk/src'))]) {
      if (path.includes('/testing/') || path === 'core/src/access/subjects.ts') continue;
      if (/(?:thread|channel|post)\.members\.(?:fetch|cache)/.test(await readFile(path, 'utf8'))) asking.push(path);
    }
    expect(asking).to.deep.equal([]);
  });
});

/** TypeScript files below a folder, without built and installed ones. */
async function sources(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !['node_modules', 'dist'].includes(entry.name)) found.push(...(await sources(path)));
    else if (entry.name.endsWith('.ts')) found.push(path);
  }
  return found;
}
