// The control sign: a small bar that says who controls this tab and what it does, with Pause and Stop.
//
// It lives in a closed shadow root of the body, so that no node of it is in the page's document; the body's own
// children show through a slot, which makes no box. Its words are generated content: text that is in no node is not
// found by window.find, and not in what the page gets when it selects all. The buttons answer a person's hand only: a trusted press with
// pressure, which input sent by an agent does not have.
(() => {
  'use strict'
  const own = globalThis.__chaperone
  if (!own || own.signed || globalThis !== globalThis.top) return
  own.signed = true

  const STYLE = `
    .bar { all: initial; position: fixed; inset: 8px 8px auto auto; margin: 0; z-index: 2147483647; display: flex; align-items: center;
      gap: 8px; max-width: min(480px, calc(100vw - 16px)); box-sizing: border-box; padding: 4px 4px 4px 10px; border: 1px solid #0003; border-radius: 8px;
      background: #fffffff2; color: #1c2024; font: 12px/1.4 system-ui, sans-serif; box-shadow: 0 2px 8px #0002; user-select: none;
      cursor: default; overflow: hidden; direction: ltr }
    .bar[hidden], .bar:not(:popover-open) { display: none }
    .dot { all: initial; flex: none; width: 8px; height: 8px; border-radius: 4px; background: #2f6f4f }
    .paused .dot { background: #8a8f98 }
    .words { all: initial; font: inherit; color: inherit; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; min-width: 0 }
    .button { all: initial; flex: none; font: inherit; color: inherit; padding: 2px 8px; border-radius: 5px; background: #0000000d; cursor: pointer }
    .button:hover { background: #0000001f }
    .words::before, .button::before { content: attr(data-text) }
    .dot, .words, .button { pointer-events: inherit }
    @media (prefers-color-scheme: dark) {
      .bar { background: #1c2024f2; color: #e8eaed; border-color: #fff3 }
      .button { background: #ffffff1a } .button:hover { background: #ffffff33 }
    }
    @media print { .bar { display: none } }`

  let words = null      // what to show
  let bar = null        // the bar of the body that carries one
  let body = null
  let parts = {}
  let hidden = false
  let aside = 0         // timer until the bar takes presses again

  const el = (tag, cls, text) => {
    const e = document.createElementNS('http://www.w3.org/1999/xhtml', tag)
    if (cls) e.className = cls
    if (text) e.dataset.text = text
    return e
  }
  const build = () => {
    let root
    try { root = document.body.attachShadow({ mode: 'closed' }) } catch { return false } // the page has one of its own
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    bar = el('div', 'bar')
    bar.setAttribute('popover', 'manual')
    bar.setAttribute('aria-hidden', 'true')
    parts = { words: el('span', 'words'), pause: el('span', 'button'), stop: el('span', 'button', 'Stop') }
    bar.append(el('span', 'dot'), parts.words, parts.pause, parts.stop)
    root.append(el('slot'), bar)
    return true
  }
  const paint = () => {
    if (!words || !document.body || document.body.localName !== 'body' || document.contentType === 'application/xml') return
    if (document.body !== body) {
      body = document.body
      bar = null
      if (!build()) return
    }
    if (!bar) return
    if (!words.agent) { bar.hidden = true; return }
    bar.className = 'bar ' + words.state
    const text = ['Chaperone', words.agent, words.state === 'paused' ? 'paused' : words.doing].filter(Boolean).join(' · ')
    if (parts.words.dataset.text !== text) parts.words.dataset.text = text
    const pause = words.state === 'paused' ? 'Resume' : 'Pause'
    if (parts.pause.dataset.text !== pause) parts.pause.dataset.text = pause
    bar.hidden = hidden
    if (!hidden && !bar.matches(':popover-open')) { try { bar.showPopover() } catch { /* not in a document that shows */ } }
  }

  const within = (e, part) => {
    const r = part.getBoundingClientRect()
    return e.clientX >= r.left && e.clientX < r.right && e.clientY >= r.top && e.clientY < r.bottom
  }
  const shows = () => bar && !bar.hidden && bar.isConnected && bar.matches(':popover-open')
  let pressed = null    // the button that the person holds down
  let hand = false      // whether the press under way is a person's
  const onPress = e => {
    if (!e.isTrusted || !shows() || !within(e, bar)) return
    if (e.type === 'pointerdown') hand = e.pressure > 0
    if (!hand && !own.sign.takes()) return // the agent's, on its way to what is below
    e.stopImmediatePropagation()
    e.preventDefault()
    if (e.type === 'pointerdown') pressed = hand && e.button === 0 ? ['pause', 'stop'].find(k => within(e, parts[k])) || null : null
    if (e.type === 'pointerup') {
      if (pressed && within(e, parts[pressed])) globalThis.__chaperonePressed(pressed === 'pause' && words.state === 'paused' ? 'resume' : pressed)
      pressed = null
    }
  }
  for (const t of ['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu']) {
    addEventListener(t, onPress, { capture: true })
  }

  // A modal dialog or a full screen element of the page comes above what was there before it; the sign goes above that.
  // Listened for at the window, where the page's own listeners come later and can't stop it.
  const raise = () => { if (bar && !hidden && bar.matches(':popover-open')) { bar.hidePopover(); bar.showPopover() } }
  addEventListener('fullscreenchange', raise, true)
  addEventListener('toggle', e => { if (e.isTrusted && e.newState === 'open' && e.target !== document.body) raise() }, true)

  // A body may come late, or be replaced.
  const look = new MutationObserver(() => { watchRoot(); if (document.body !== body) paint() })
  const watchRoot = () => {
    look.observe(document, { childList: true })
    if (document.documentElement) look.observe(document.documentElement, { childList: true })
  }
  watchRoot()

  own.sign.set = w => { words = w; paint() }
  own.sign.hide = on => { hidden = on; paint() }
  own.sign.text = () => shows() ? parts.words.dataset.text : ''
  own.sign.rect = k => { const r = parts[k].getBoundingClientRect(); return [r.x, r.y, r.width, r.height] }
  own.sign.takes = () => !!bar && bar.style.pointerEvents !== 'none'
  // While the agent acts, its input goes through the bar to what is below.
  own.sign.yield = () => {
    if (!bar) return
    bar.style.pointerEvents = 'none'
    clearTimeout(aside)
    aside = setTimeout(() => { bar.style.pointerEvents = '' }, 400)
  }
})()
