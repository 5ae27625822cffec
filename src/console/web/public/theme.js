// Sets theme and density before the first paint (APP-7). A classic script of its own, since a module would come after
// the paint and an inline one would be refused by the content policy. The names are those of data/preferences.ts.
(() => {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('svc.preferences') ?? '{}') ?? {};
  } catch {
    // Storage that is closed or damaged: the defaults hold.
  }
  const dark =
    kept.theme === 'dark' || (kept.theme !== 'light' && !matchMedia('(prefers-color-scheme: light)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.documentElement.dataset.density = kept.density === 'compact' ? 'compact' : 'comfortable';
})();
