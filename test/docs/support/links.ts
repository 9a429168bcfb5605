import { existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { type Page, type Problem, readPage } from './markdown.js';
import { at } from './pages.js';

interface Book {
  readonly slugify: (text: string) => string;
  readonly pageOf: (file: string) => string | undefined;
  readonly sidebar: readonly SidebarItem[];
}
interface SidebarItem {
  readonly link?: string | undefined;
  readonly items?: readonly SidebarItem[] | undefined;
}

const ELSEWHERE = /^(?:https?|mailto):/;
/** The folder that TypeDoc generates for the book. */
const BUILT = '/reference/sdk/';

/** Links of a page to a missing file or heading. Links to other sites are not requested. */
export function deadLinks(page: Page, { slugify }: Pick<Book, 'slugify'>): readonly Problem[] {
  return page.links.flatMap(({ line, text }) => {
    const why = ELSEWHERE.test(text) ? unreadable(text) : whyDead(page, text, slugify);
    return why === undefined ? [] : [{ file: page.file, line, text: why }];
  });
}

const unreadable = (address: string) =>
  URL.canParse(address) ? undefined : `${address} is no address: write it in full.`;

function whyDead(page: Page, link: string, slugify: Book['slugify']): string | undefined {
  if (link.startsWith('/'))
    return `${link} holds in the book alone: link from file to file, as in ../admins/from-red.md.`;
  const [path = '', anchor] = link.split('#');
  if (path === '') return whyNoHeading(page, anchor, slugify);
  const file = posix.join(posix.dirname(page.file), decodeURI(path));
  if (file.startsWith('..') || !existsSync(at(file))) return `There is no file ${file}: mend the link ${link}.`;
  if (anchor === undefined) return undefined;
  const target = openPage(file);
  return target === undefined
    ? `${file} is no page with headings: leave #${anchor} out of the link.`
    : whyNoHeading(target, anchor, slugify);
}

function whyNoHeading(page: Page, anchor: string | undefined, slugify: Book['slugify']): string | undefined {
  const anchors = anchorsOf(page, slugify);
  return anchors.includes(decodeURI(anchor ?? ''))
    ? undefined
    : `${page.file} has no heading #${anchor ?? ''}: it has ${anchors.map((one) => `#${one}`).join(', ')}.`;
}

function openPage(file: string): Page | undefined {
  const page = statSync(at(file)).isDirectory()
    ? ['README.md', 'index.md'].map((name) => posix.join(file, name)).find((one) => existsSync(at(one)))
    : file;
  return page?.endsWith('.md') ? readPage(page, readFileSync(at(page), 'utf8')) : undefined;
}

/** Anchors as the book and the code host generate them: a repeated heading gets a number. */
function anchorsOf({ headings }: Page, slugify: Book['slugify']): readonly string[] {
  const seen = new Map<string, number>();
  return headings.map(({ text }) => {
    const slug = slugify(text);
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

const linksBelow = (items: readonly SidebarItem[]): readonly string[] =>
  items.flatMap(({ link, items: below = [] }) => [...(link === undefined ? [] : [link]), ...linksBelow(below)]);

/** Pages that are missing from the book's table of contents, and links of the front page that are no pages. */
export function unreachable(pages: readonly Page[], { sidebar, pageOf }: Book): readonly Problem[] {
  const listed = new Set(linksBelow(sidebar));
  const addressOf = (page: string) => `/${page.replace(/(?:index)?\.md$/, '')}`;
  return pages.flatMap((page) => {
    const address = addressOf(pageOf(page.file) ?? page.file);
    const isOfBook = pageOf(page.file) !== undefined && address !== '/';
    const lost =
      isOfBook && !listed.has(address)
        ? [
            {
              file: page.file,
              line: 1,
              text: 'No page leads here: name its folder in CHAPTERS of docs/.vitepress/book.js.',
            },
          ]
        : [];
    const dead = [...page.frontMatter.matchAll(/\blink: ([^\s,}]+)/g)].flatMap(({ 1: link = '', index }) =>
      ELSEWHERE.test(link) || link === BUILT || listed.has(link)
        ? []
        : [
            {
              file: page.file,
              line: page.frontMatter.slice(0, index).split('\n').length + 1,
              text: `${link} is no page of the book: mend the link.`,
            },
          ],
    );
    return [...lost, ...dead];
  });
}
