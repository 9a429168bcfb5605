/** A TypeDoc plugin: each file of the SDK is a page, with those of its exports that plugins can import. */
import { Converter } from 'typedoc';

const ENTRIES = ['sdk/src/index.ts', 'sdk/src/worker.ts', 'sdk/src/testing.ts'];

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project, programs }) => {
    const offered = new Set(programs.flatMap(exportsOf));
    for (const page of project.children ?? []) {
      for (const one of [...(page.children ?? [])]) if (!offered.has(one.name)) project.removeReflection(one);
      if ((page.children ?? []).length === 0) project.removeReflection(page);
    }
  });
}

/** @param {import('typescript').Program} program */
function exportsOf(program) {
  const checker = program.getTypeChecker();
  return program
    .getSourceFiles()
    .filter(({ fileName }) => ENTRIES.some((entry) => fileName.endsWith(`/${entry}`)))
    .flatMap((file) => checker.getExportsOfModule(checker.getSymbolAtLocation(file)))
    .map(({ name }) => name);
}
