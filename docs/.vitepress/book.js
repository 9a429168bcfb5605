/** The book's table of contents, addresses and anchors, separate from the tool that builds it, because the tests of its pages use them, too. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The parts of the book: a folder each. Pages that are not named follow the named ones, so that a new page needs no entry here. */
const CHAPTERS = [
  { folder: 'members', title: 'For members', pages: ['asking', 'confirming', 'tasks-and-reminders', 'your-data'] },
  {
    folder: 'admins',
    title: 'For admins',
    pages: [
      'first-day',
      'first-month',
      'access',
      'settings',
      'moderation',
      'budgets',
      'server-file',
      'why',
      'from-red',
    ],
  },
  {
    folder: 'operators',
    title: 'For operators',
    pages: [
      'installing',
      'discord',
      'models',
      'configuration',
      'systemd',
      'docker',
      'postgresql',
      'cluster',
      'scale',
      'monitoring',
      'web',
      'upgrades-and-backups',
    ],
  },
  {
    folder: 'authors',
    title: 'For authors',
    pages: [
      'first-plugin',
      'commands',
      'components',
      'events',
      'settings-and-data',
      'tools',
      'services',
      'timers',
      'pages',
      'testing',
      'evaluating',
    ],
  },
  { folder: 'reference', title: 'Reference', pages: [] },
];

/** Pages that are stored beside their subject: each is a page of the book as well. */
const ELSEWHERE = [
  [/^plugins\/([\w-]+)\/README\.md$/, 'plugins/$1.md'],
  [/^sdk\/(local-[\w-]+)\/README\.md$/, 'packages/$1.md'],
  [/^(core|sdk)\/README\.md$/, 'packages/$1.md'],
  [/^sdk\/ERRORS\.md$/, 'reference/errors.md'],
  [/^SECURITY\.md$/, 'security.md'],
  [/^CONTRIBUTING\.md$/, 'contributing.md'],
  [/^CHANGELOG\.md$/, 'changelog.md'],
  [/^docs\/(.+\.md)$/, '$1'],
];

/** The path of a file in the book; `undefined` for a file that is no page of it. */
export function pageOf(file) {
  const [pattern, page] = ELSEWHERE.find(([one]) => one.test(file)) ?? [];
  return pattern && file.replace(pattern, page);
}

const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(resolve(ROOT, file), 'utf8'))?.[1] ?? file;
const namesIn = (folder) =>
  readdirSync(resolve(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort();
const item = (file) => ({ text: titleOf(file), link: `/${pageOf(file).replace(/(index)?\.md$/, '')}` });

function chapterItems({ folder, pages }) {
  const all = namesIn(`docs/${folder}`);
  const named = pages.filter((name) => all.includes(name));
  return [...named, ...all.filter((name) => !named.includes(name))].map((name) => item(`docs/${folder}/${name}.md`));
}

const plugins = readdirSync(resolve(ROOT, 'plugins')).filter((id) =>
  existsSync(resolve(ROOT, 'plugins', id, 'README.md')),
);
const servers = readdirSync(resolve(ROOT, 'sdk')).filter((id) => existsSync(resolve(ROOT, 'sdk', id, 'README.md')));

export const sidebar = [
  ...CHAPTERS.filter(({ folder }) => existsSync(resolve(ROOT, 'docs', folder))).map((chapter) => ({
    text: chapter.title,
    collapsed: true,
    items: [
      ...chapterItems(chapter),
      ...(chapter.folder === 'reference'
        ? [
            { text: 'Errors', link: '/reference/errors' },
            { text: 'SDK types', link: '/reference/sdk/' },
          ]
        : []),
    ],
  })),
  { text: 'The plugins', collapsed: true, items: plugins.map((id) => item(`plugins/${id}/README.md`)) },
  {
    text: 'Inside',
    collapsed: true,
    items: [
      'sdk/README.md',
      'core/README.md',
      ...servers.map((id) => `sdk/${id}/README.md`),
      'SECURITY.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
    ].map(item),
  },
];

/** Anchors in the format of code hosts, so that a link works in both. */
export function slugify(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The target of a file's link in the book; `undefined` for a file that is no page of it. */
export function bookTarget(from, href) {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href;
  const [path, anchor] = href.split('#');
  const named = posix.join(from, decodeURI(path));
  const file = existsSync(resolve(ROOT, named, 'index.md')) ? posix.join(named, 'index.md') : named;
  const page = pageOf(file);
  // A link to a missing file is kept, so that the build fails.
  if (page === undefined) return existsSync(resolve(ROOT, file)) ? undefined : href;
  return `/${page.replace(/(^|\/)index\.md$/, '$1')}${anchor === undefined ? '' : `#${anchor}`}`;
}
