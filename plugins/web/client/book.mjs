/**
 * `node book.mjs DIR`: renders the book (`docs/`, and the READMEs that belong to it) into the pages that the dashboard serves below `/docs/`. They use the
 * dashboard's colours and no script, because they are under the same content security policy. Table of contents and addresses are those of the book that `npm
 * run docs` builds.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import markdownIt from 'markdown-it';
import { bookTarget, pageOf, ROOT, sidebar, slugify } from '../../../docs/.vitepress/book.js';

const BASE = '/docs';
/** Generated from the types by another tool, and not part of these pages. */
const ELSEWHERE = /^\/reference\/sdk\//;
const FOLDERS = ['docs', 'plugins', 'core', 'sdk'];
const IMAGES = 'docs/images';

async function buildBook(folder) {
  await mkdir(folder, { recursive: true });
  const style = await buildStyle(folder);
  const files = await pagesOfTheBook();
  const order = sidebar.flatMap(({ items }) => items).filter(({ link }) => !ELSEWHERE.test(link));
  for (const file of files) {
    const page = pageOf(file).replace(/\.md$/, '');
    const link = `/${page.replace(/(^|\/)index$/, '$1')}`;
    const { title, body, headings } = render(file, await readFile(join(ROOT, file), 'utf8'));
    const at = order.findIndex((item) => item.link === link);
    const target = join(folder, `${page}.html`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(
      target,
      pageAround({ title, body, headings, link, style, before: order[at - 1], next: order[at + 1] }),
    );
  }
  await cp(join(ROOT, IMAGES), join(folder, 'images'), { recursive: true });
}

async function buildStyle(folder) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('book.css', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
  });
  const [{ contents }] = outputFiles;
  const name = `book-${createHash('sha256').update(contents).digest('hex').slice(0, 8)}.css`;
  await writeFile(join(folder, name), contents);
  return `${BASE}/${name}`;
}

/** @returns paths from the root of the project */
async function pagesOfTheBook() {
  const found = ['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
  const visit = async (folder) => {
    for (const entry of await readdir(join(ROOT, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!/^(?:node_modules|dist|public|src|client|\..*)$/.test(entry.name)) await visit(path);
      } else if (pageOf(path) !== undefined) found.push(path);
    }
  };
  for (const folder of FOLDERS) await visit(folder);
  return found;
}

/** Raw HTML stays text; links between files lead to pages. */
function render(file, source) {
  const md = markdownIt({ html: false, linkify: false });
  const from = posix.dirname(file);
  const headings = [];
  let title = 'Cinnabar';
  md.core.ruler.push('book', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const text = plainText(tokens[index + 1]);
        const slug = slugify(text);
        token.attrSet('id', slug);
        if (token.tag === 'h1') title = text;
        if (token.tag === 'h2') headings.push({ text, slug });
      }
      leadToPages(token.children ?? [], from);
    }
  });
  const { renderer } = md;
  // Blocks that are wider than the page scroll separately; `tabindex` lets the keyboard scroll them.
  renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n';
  renderer.rules.table_close = () => '</table></div>\n';
  const { fence } = renderer.rules;
  renderer.rules.fence = (...args) => fence(...args).replace('<pre>', '<pre tabindex="0">');
  // Comments are directives for `test/docs`.
  return { body: md.render(withHeading(source).replace(/<!--.*?-->/gs, '')), headings, title };
}

/** The title of the first page is in its front matter, which the tool behind `npm run docs` reads. */
const FRONT_MATTER = /^---\n.*?^ {2}name: (.+?)\n {2}text: (.+?)\n.*?^---\n/ms;
const withHeading = (source) => source.replace(FRONT_MATTER, '# $1\n\n$2.\n');

/** Rewrites links to addresses below `/docs/`. A link to a file that is no page of the book becomes text. */
function leadToPages(children, from) {
  let isDropped = false;
  for (const child of children) {
    if (child.type === 'image') child.attrSet('src', imageAddress(from, child.attrGet('src')));
    if (child.type === 'link_open') {
      const target = bookTarget(from, child.attrGet('href'));
      isDropped = target === undefined || ELSEWHERE.test(target);
      if (!isDropped) child.attrSet('href', addressOf(target));
    }
    if (isDropped && (child.type === 'link_open' || child.type === 'link_close'))
      Object.assign(child, { type: 'text', content: '', nesting: 0 });
  }
}

/** @param target as the book writes it: `/admins/access.md#rules` */
const addressOf = (target) => (target.startsWith('/') ? `${BASE}${target.replace(/\.md(?=#|$)/, '')}` : target);

function plainText({ children }) {
  return children.map(({ content }) => content).join('');
}

function imageAddress(from, src) {
  return `${BASE}/${relative('docs', posix.join(from, src))}`;
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (character) => ENTITIES[character]);
const linkTo = ({ link, text }, attributes = '') => `<a href="${BASE}${link}"${attributes}>${escaped(text)}</a>`;

function pageAround({ title, body, headings, link, style, before, next }) {
  const chapters = sidebar.map(({ text, items }) => {
    const shown = items.filter((item) => !ELSEWHERE.test(item.link));
    const isHere = shown.some((item) => item.link === link);
    const links = shown.map((item) => `<li>${linkTo(item, item.link === link ? ' aria-current="page"' : '')}</li>`);
    return `<details${isHere ? ' open' : ''}><summary>${escaped(text)}</summary><ul>${links.join('')}</ul></details>`;
  });
  const onThisPage = headings.map(({ text, slug }) => `<li><a href="#${slug}">${escaped(text)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escaped(title)} · Cinnabar</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="${style}">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><a href="${BASE}/">Cinnabar: the book</a><a class="contents" href="#contents">Contents</a><a href="/">Dashboard</a></header>
<div class="book">
<nav id="contents" aria-label="Chapters">
${chapters.join('\n')}
</nav>
<main id="content">
${body}
<footer>${before === undefined ? '<span></span>' : linkTo(before, ' rel="prev"')}${next === undefined ? '' : linkTo(next, ' rel="next"')}</footer>
</main>
${onThisPage.length > 1 ? `<aside><nav aria-label="On this page"><ul>${onThisPage.join('')}</ul></nav></aside>` : ''}
</div>
</body>
</html>
`;
}

await buildBook(join(process.argv[2], 'docs'));
