import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { NO_CHANNEL, WebPages, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../plugins/web/browser.js';
import { webPeople } from './web-people.js';

const PLUGINS = fileURLToPath(new URL('../../../plugins', import.meta.url));
const ROUTES = ['', '/card', '/acts/anything', '/files/anything'] as const;
const listed = z.object({
  pages: z.array(z.object({ id: z.string(), about: z.enum(['guild', 'bot']), group: z.string() })),
});

type Page = z.output<typeof listed>['pages'][number];

interface Visit {
  readonly host: TestHost;
  readonly person: { readonly id: string } | undefined;
  readonly page: Page;
}

/** Whether the person may see the page, by the decision function of commands. */
async function isAllowed({ host, person, page: { id, about } }: Visit): Promise<boolean> {
  if (person === undefined) return false;
  const guildId = about === 'guild' ? host.guild.id : null;
  return (await host.resolve(WebPages).explain(id, { userId: person.id, guildId, channelId: NO_CHANNEL })).allowed;
}

function expectedStatus({ person, page }: Visit, route: (typeof ROUTES)[number], allowed: boolean): number {
  if (person === undefined) return 401;
  if (!allowed) return 403;
  // There is no such act or file, which is revealed only to those who may see the page.
  if (/^\/(?:acts|files)/.test(route)) return 404;
  // A page about one item responds with an error without its parameter.
  return page.group === 'hidden' && route === '' ? 422 : 200;
}

describe('web: every page and act', () => {
  it('has exactly the access of the one authorization path', async () => {
    const plugins = readdirSync(PLUGINS, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    await using host = await createTestHost({ plugins, env: { CINNABAR_WEB: '0' }, printErrors: false });
    await host.settled();
    const everybody = { nobody: undefined, ...(await webPeople(host)) };
    const owner = openBrowser(host);
    await owner.signIn(host.you.id);
    const query = { guild: `?guild=${host.guild.id}`, bot: '' };
    const pages: Page[] = [];
    for (const where of Object.values(query))
      pages.push(...listed.parse((await owner.get(`/api/pages${where}`)).body).pages);
    expect(pages.length).to.be.greaterThan(20);
    const counts = { allowed: 0, refused: 0 };
    const visitAll = async (name: string, person: Visit['person']) => {
      const browser = openBrowser(host);
      if (person !== undefined) await browser.signIn(person.id);
      for (const page of pages) {
        const visit = { host, person, page };
        const allowed = await isAllowed(visit);
        for (const route of ROUTES) {
          const path = `/api/pages/${page.id}${route}${query[page.about]}`;
          const { status, body } = await (route.startsWith('/acts') ? browser.act(path, {}) : browser.get(path));
          const what = `${name}: ${path}: ${JSON.stringify(body).slice(0, 200)}`;
          expect(status, what).to.equal(expectedStatus(visit, route, allowed));
          counts[allowed ? 'allowed' : 'refused'] += 1;
        }
      }
    };
    for (const [name, person] of Object.entries(everybody)) await visitAll(name, person);
    const { allowed, refused } = counts;
    process.stdout.write(`      pages: ${pages.length}, requests allowed: ${allowed}, refused: ${refused}\n`);
  });
});
